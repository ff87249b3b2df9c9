// Numbers and elements. Texts only ever become text nodes.
const wholeNumbers = new Intl.NumberFormat(language);

// A number as scripts write it, with the decimal mark of the language.
const decimalMarked = (text) => text.replace(".", catalogue.decimal);
const withDigits = (value, digits) => decimalMarked(value.toFixed(digits));

function roundish(value) {
  if (value >= 1e6) return decimalMarked(value.toExponential(1).replace("e+", " × 10^"));
  return wholeNumbers.format(Number(value.toPrecision(2)));
}

const inUnit = (value) => withDigits(value, 2);
const unitName = say("unit", {}, source.unit);
const rangeText = (low, high) => say("range", { low, high });

// Small errors keep digits that say something.
const errorText = (value) => (value > 0 && value < 0.0005 ? decimalMarked("< 0.001") : withDigits(value, value < 0.1 ? 3 : 2));

function percent(chance) {
  if (chance < 0.01) return "< 1 %";
  return chance > 0.99 ? "> 99 %" : `${Math.round(chance * 100)} %`;
}

const intervalText = (i) => rangeText(inUnit(columns.low[i]), inUnit(columns.high[i]));

const rankText = (i) => (columns.rank[i] === null ? "–" : wholeNumbers.format(columns.rank[i]) + (equalRanks.has(columns.rank[i]) ? "=" : ""));

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name in its own direction of writing, so that it cannot turn what stands beside it.
const nameElement = (i) => element("bdi", {}, nameOf(i));
