// The ranked list: a page of rows at a time, sorted and searched over all places.
const PER_PAGE = 25;
const DESCENDING_FIRST = new Set(["entropy", "visitors", "counted_visitors", "counted_visits", "chance"]);
const SVG_WIDTH = 200;
const MOST_SHOWN = 3; // columns of the public list under a name; the box on the map has all of them

// Letters without case and accents, so that "cafe" finds "Café".
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const barRange = (() => {
  const lows = sortedNumbers(has("low") ? columns.low : columns.entropy);
  const highs = sortedNumbers(has("high") ? columns.high : columns.entropy);
  if (!lows.length) return [0, 1];
  // All of them, unless a few stray far from the rest.
  const [usual, highest] = [quantile(highs, 0.995), highs[highs.length - 1]];
  const [low, high] = [Math.min(0, quantile(lows, 0.005)), highest > 2 * usual ? usual : highest];
  return high > low ? [low, high] : [low, low + 1];
})();

function along(value) {
  const share = (value - barRange[0]) / (barRange[1] - barRange[0]);
  return (Math.max(0, Math.min(1, share)) * (SVG_WIDTH - 12) + 6).toFixed(1);
}

// Round values along the bars, three to six.
const barTicks = (() => {
  const step = niceStep((barRange[1] - barRange[0]) / 5);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let k = Math.ceil(barRange[0] / step - 1e-9); k * step <= barRange[1] * (1 + 1e-9); k++) ticks.push([k * step, withDigits(k * step, digits)]);
  return ticks;
})();

// The scale of the bars, for their heading.
function barScale() {
  const ticks = barTicks.map(([value, words]) => {
    const tick = element("span", {}, words);
    tick.style.left = `${(100 * along(value)) / SVG_WIDTH}%`;
    return tick;
  });
  return [element("small", {}, has("low") ? say("interval_in", { unit: unitName }) : unitName), element("div", { class: "scale" }, ...ticks)];
}

function errorBar(i) {
  const [value, middle] = [along(columns.entropy[i]), 15];
  const parts = barTicks.map(([at]) => drawing("line", { class: "stem", x1: along(at), x2: along(at), y1: 0, y2: 30 }));
  parts.push(drawing("line", { class: "stem", x1: 6, x2: SVG_WIDTH - 6, y1: middle, y2: middle }));
  let label = `${inUnit(columns.entropy[i])} ${unitName}`;
  if (has("low")) {
    const [low, high] = [along(columns.low[i]), along(columns.high[i])];
    label = say("bar", { value: inUnit(columns.entropy[i]), unit: unitName, interval: intervalText(i) });
    parts.push(drawing("line", { class: "whisker", x1: low, x2: high, y1: middle, y2: middle }));
    for (const x of [low, high]) parts.push(drawing("line", { class: "whisker", x1: x, x2: x, y1: middle - 4, y2: middle + 4 }));
  }
  parts.push(drawing("line", { class: "value", x1: value, x2: value, y1: middle, y2: middle }));
  const title = drawing("title", {}, label);
  return drawing("svg", { viewBox: `0 0 ${SVG_WIDTH} 30`, preserveAspectRatio: "none", role: "img", "aria-label": label }, title, ...parts);
}

function meter(chance) {
  const full = drawing("rect", { class: "all", width: 100, height: 10, rx: 3 });
  const part = drawing("rect", { class: "part", width: (100 * chance).toFixed(1), height: 10, rx: 3 });
  return drawing("svg", { class: "meter", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, full, part);
}

const KEYS_OF = {
  rank: (i) => columns.rank[i],
  name: nameOf,
  entropy: (i) => columns.entropy[i],
  visitors: (i) => columns.entropy[i],
  std_error: (i) => columns.std_error[i],
  counted_visitors: (i) => columns.counted_visitors[i],
  counted_visits: (i) => columns.counted_visits[i],
  chance: (i) => columns.chance[i],
};

function cellOf(name, i, show) {
  if (name === "rank") return element("td", { class: "rank" }, rankText(i));
  if (name === "name") {
    const text = nameElement(i);
    const title = isOnMap(i) ? element("button", { type: "button", title: say("show") }, text) : text;
    if (isOnMap(i)) title.addEventListener("click", () => show(i));
    const besides = [...(isNamed(i) ? [columns.id[i]] : []), ...attributesOf(i).slice(0, MOST_SHOWN).map(attributeText)];
    const changed = has("change") && columns.change[i] !== "none" && columns.change[i] !== null ? [chip(i)] : [];
    return element("td", { class: "name" }, title, ...changed, ...(besides.length ? [element("small", { class: source.attributes.length ? "line" : "" }, ...besides.flatMap((text, at) => [at ? " · " : "", element("bdi", {}, text)]))] : []));
  }
  if (name === "trend") return trendCell(i);
  if (name === "bar") return element("td", { class: "bar" }, errorBar(i));
  if (name === "entropy") return element("td", { class: "entropy" }, inUnit(columns.entropy[i]));
  if (name === "std_error") return element("td", { class: "std_error" }, `± ${errorText(columns.std_error[i])}`);
  if (name === "visitors") return element("td", { class: "visitors" }, roundish(visitorsOf(i)));
  if (isCount(name)) return element("td", { class: `count ${name}`, title: say("interval_of", { interval: countInterval(name, i) }) }, wholeNumbers.format(columns[name][i]));
  return element("td", { class: "chance" }, percent(columns.chance[i]), meter(columns.chance[i]));
}

// The row of a place; one without a value says why across all columns that would have numbers, and then has its counts.
function rowOf(i, names, show) {
  if (isPublished(i)) return element("tr", {}, ...names.map((name) => cellOf(name, i, show)));
  const first = names.filter((name) => name === "rank" || name === "name");
  const counted = names.filter((name) => isCount(name) && columns[name][i] !== null);
  const after = counted.length && has("chance") ? [element("td")] : []; // so that counts stand under their headings
  const across = names.length - first.length - counted.length - after.length;
  const reason = element("td", { class: "withheld", colSpan: across }, whyEmpty(i));
  const cells = (shown) => shown.map((name) => cellOf(name, i, show));
  return element("tr", {}, ...cells(first), reason, ...cells(counted), ...after);
}

function createList(show, shownOnly) {
  const table = document.getElementById("places");
  const headings = [...table.tHead.rows[0].cells];
  const shownNames = headings.map((cell) => cell.dataset.sort ?? "bar");
  const search = document.getElementById("search");
  const [found, range] = [document.getElementById("found"), document.getElementById("range")];
  const [previous, next] = [document.getElementById("previous"), document.getElementById("next")];
  let [order, first, sort] = [Array.from({ length: count }, (_, i) => i), 0, { by: "rank", down: false }];
  let sorted = order;
  if (source.attributes.length) search.placeholder = say("hint", { column: source.attributes[0] });
  let texts = null; // made when somebody first searches

  function render() {
    const rows = order.slice(first, first + PER_PAGE);
    table.tBodies[0].replaceChildren(
      ...rows.map((i) => rowOf(i, shownNames, show)),
    );
    const last = first + rows.length;
    const [from, to, total] = [first + 1, last, order.length].map((each) => wholeNumbers.format(each));
    range.textContent = rows.length ? say("rows", { first: from, last: to, total }) : say("rows_none");
    previous.disabled = first === 0;
    next.disabled = last >= order.length;
    for (const cell of headings) {
      if (cell.dataset.sort === sort.by) cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  function filter() {
    const [wanted, tests] = [plain(search.value.trim()), chosen()];
    order = tests.length ? sorted.filter((i) => tests.every((test) => test(i))) : sorted;
    if (wanted) {
      texts ??= Array.from({ length: count }, (_, i) => plain([nameOf(i), columns.id[i], ...attributesOf(i).map(attributeText)].join("\n")));
      order = order.filter((i) => texts[i].includes(wanted));
    }
    shownOnly(wanted || tests.length ? order : null);
    found.textContent = wanted || tests.length ? sayCount("found", order.length) : "";
    first = 0;
    render();
  }

  const chosen = createFilters(found, filter);

  function sortBy(name) {
    sort = { by: name, down: sort.by === name ? !sort.down : DESCENDING_FIRST.has(name) };
    const [key, sign] = [KEYS_OF[name], sort.down ? -1 : 1];
    const compare = name === "name" ? new Intl.Collator(language, { numeric: true }).compare : (one, other) => one - other;
    // Withheld places come last, whichever way; equal ones stay in the order of their ranks.
    sorted = Array.from({ length: count }, (_, i) => i).sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      if (a === null || b === null) return (a === null) - (b === null) || one - other;
      return sign * compare(a, b) || one - other;
    });
    filter();
  }

  for (const cell of headings) {
    if (!cell.dataset.sort) {
      cell.replaceChildren(...barScale());
      continue;
    }
    const button = element("button", { type: "button" }, cell.textContent);
    button.addEventListener("click", () => sortBy(cell.dataset.sort));
    cell.replaceChildren(button);
  }
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(filter, count > 20000 ? 200 : 60);
  });
  const turn = (pages) => {
    first = Math.max(0, first + pages * PER_PAGE);
    render();
  };
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  document.getElementById("controls").hidden = source.total === 1;
  document.getElementById("pager").hidden = count <= PER_PAGE;
  render();
}
