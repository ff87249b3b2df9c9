// A series: a line for each place over the periods so far, with the band of its intervals, and what changed.
const history = JSON.parse(document.getElementById("history")?.textContent ?? "null");
const SPARK = { width: 120, height: 48, margin: 5 };
const sparkTop = history ? quantile(sortedNumbers(Object.values(history.places).flatMap((row) => row.filter((_, k) => k % 3 === 2))), 0.999) || 1 : 1;
// The period that is shown: the latest is the main one, earlier ones are numbered from 2 on.
const shownPeriod = history ? (shownLevel === MAIN_LEVEL ? history.periods.length - 1 : Number(shownLevel) - 2) : 0;
const CHANGED = new Set(["rose", "fell", "closed"]);

const isChanged = (i) => has("change") && CHANGED.has(columns.change[i]);
const changeText = (i) => (isChanged(i) ? say("sure", { chance: percent(columns.change_probability[i]) }, columns.change[i]) : say("unchanged"));

function chip(i) {
  return element("span", { class: `chip ${columns.change[i]}`, title: say("expected", { change: changeText(i) }) }, say("changed", {}, columns.change[i]));
}

function sparkline(row) {
  const x = (k) => (SPARK.margin + (k * (SPARK.width - 2 * SPARK.margin)) / Math.max(1, history.periods.length - 1)).toFixed(1);
  const y = (value) => (SPARK.height - SPARK.margin - (Math.max(0, Math.min(sparkTop, value)) / sparkTop) * (SPARK.height - 2 * SPARK.margin)).toFixed(1);
  const [parts, stretch, told] = [[], [], []];
  // Periods without a value cut the line in pieces.
  const draw = () => {
    if (stretch.length) {
      const band = [...stretch.map((k) => `${x(k)},${y(row[3 * k + 2])}`), ...stretch.toReversed().map((k) => `${x(k)},${y(row[3 * k + 1])}`)];
      parts.push(drawing("polygon", { class: "band", points: band.join(" ") }));
      parts.push(drawing("polyline", { class: "path", points: stretch.map((k) => `${x(k)},${y(row[3 * k])}`).join(" ") }));
    }
    stretch.length = 0;
  };
  history.periods.forEach((period, k) => {
    const value = row[3 * k];
    told.push(`${period}: ${value === null ? say("no_value") : inUnit(value)}`);
    if (value === null) draw();
    else stretch.push(k);
  });
  draw();
  if (row[3 * shownPeriod] !== null) parts.push(drawing("circle", { class: "now", cx: x(shownPeriod), cy: y(row[3 * shownPeriod]), r: 3.5 }));
  const label = say("trend", { unit: unitName, values: told.join("; ") });
  return drawing("svg", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, role: "img", "aria-label": label }, drawing("title", {}, label), ...parts);
}

function trendCell(i) {
  const row = history.places[columns.id[i]];
  return element("td", { class: "trend" }, ...(row ? [sparkline(row)] : []));
}

const seriesFacts = (i) => [
  ...(has("entropy_alone") ? [[say("alone"), `${inUnit(columns.entropy_alone[i])} ${unitName}`]] : []),
  ...(has("change") ? [[say("change"), changeText(i)]] : []),
];

// The surest changes first; then places by what is likeliest.
KEYS_OF.trend = (i) => (has("change") && columns.change[i] !== null ? columns.change_probability[i] + (isChanged(i) ? 1 : 0) : null);
DESCENDING_FIRST.add("trend");
