// The published columns, as the page carries them; one index for one place, the first first.
const source = JSON.parse(document.getElementById("data").textContent);
const columns = source.columns;
const count = columns.id.length;
const has = (name) => name in columns;

const nameOf = (i) => (has("name") && columns.name[i]) || columns.id[i];
const isNamed = (i) => has("name") && Boolean(columns.name[i]) && columns.name[i] !== columns.id[i];
const isOnMap = (i) => has("lat") && columns.lat[i] !== null && columns.lon[i] !== null;
const isPublished = (i) => columns.entropy[i] !== null;
const whyEmpty = (i) => (has("uncertain") && columns.uncertain[i] ? say("uncertain") : say("withheld"));
// What the public list says about a place, as pairs; attributes that are not known are left out.
const attributesOf = (i) =>
  source.attributes.map((name, number) => [name, columns[`a${number}`][i]]).filter(([, text]) => text !== null);
// A number, a time, a day or a flag says nothing without the name of its column.
const attributeText = ([name, text]) => (/^(true|false|-?\d[\d.:e+-]*)$/.test(text) ? `${name} ${text}` : text);
const isCount = (name) => name.startsWith("counted_");
const countInterval = (name, i) => rangeText(wholeNumbers.format(columns[`${name}_low`][i]), wholeNumbers.format(columns[`${name}_high`][i]));
// Bounded counts of a place with their intervals, as pairs.
const countsOf = (i) =>
  ["visitors", "visits"]
    .map((word) => [word, `counted_${word}`])
    .filter(([, name]) => has(name) && columns[name][i] !== null)
    .map(([word, name]) => [say("counted", {}, word), `${wholeNumbers.format(columns[name][i])} (${countInterval(name, i)})`]);
const sureness = (i) => (has("certainty") ? columns.certainty[i] : null);

// e to the power of the entropy in nats.
const visitorsAt = (entropy) => Math.exp(Math.min(700, entropy * (source.unit === "bits" ? Math.LN2 : 1)));
const visitorsOf = (i) => visitorsAt(columns.entropy[i]);

const equalRanks = new Set();
for (let i = 1; i < count; i++) {
  if (columns.rank[i] !== null && columns.rank[i] === columns.rank[i - 1]) equalRanks.add(columns.rank[i]);
}

// The value below which a share of the sorted numbers lies.
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

const sortedNumbers = (values) => Float64Array.from(values.filter((value) => value !== null)).sort();
