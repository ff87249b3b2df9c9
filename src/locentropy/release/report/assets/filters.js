// Filters: for each column of the public list with few values, a menu of them. Values only ever become text nodes.
const EVERY = "";
const UNKNOWN = "?"; // other choices are numbers, which no value of the list can be mistaken for

function choicesOf(number) {
  const values = columns[`a${number}`];
  const known = [...new Set(values.filter((text) => text !== null))].sort(new Intl.Collator(language, { numeric: true }).compare);
  return { values, known, hasUnknown: values.includes(null) };
}

function createFilter(number, changed) {
  const { values, known, hasUnknown } = choicesOf(number);
  const menu = element("select", { id: `filter-${number}` }, element("option", { value: EVERY }, say("every")));
  known.forEach((text, at) => menu.append(element("option", { value: String(at) }, text)));
  if (hasUnknown) menu.append(element("option", { value: UNKNOWN }, say("unknown")));
  menu.addEventListener("change", changed);
  const label = element("label", { htmlFor: menu.id }, element("bdi", {}, source.attributes[number]));
  const passes = () => {
    if (menu.value === EVERY) return null;
    const wanted = menu.value === UNKNOWN ? null : known[Number(menu.value)];
    return (i) => values[i] === wanted;
  };
  return { parts: [element("span", { class: "filter" }, label, menu)], passes };
}

// The filters, put before an element; returns a function for the tests that are set now.
function createFilters(before, changed) {
  const made = source.attributes.map((_, number) => number).filter((number) => source.filters[number]).map((number) => createFilter(number, changed));
  for (const { parts } of made) before.before(...parts);
  return () => made.map(({ passes }) => passes()).filter((test) => test !== null);
}
