// Names of the highest places on the map. From the highest down, a label goes to the first of its sides where it touches no
// other label and stays on the sheet; where there is none, the place has no label. An area has its label within it:
// its name, or its rank where there is no room for that. Cells without names have their rank.
const MOST_LABELS = 14;
const MOST_TRIED = 120; // places on the sheet, the highest first
const LABEL = { height: 15, gap: 4, letters: 26 };

const short = (text) => ([...text].length > LABEL.letters ? `${[...text].slice(0, LABEL.letters - 1).join("")}…` : text);
const labelOf = (i) => short(source.labels === "rank" ? rankText(i) : nameOf(i));

const touches = ([l, t, r, b], [left, top, right, bottom]) => l < right && r > left && t < bottom && b > top;

// Where labels go: [place, words, left, top]. `occupied` are boxes that stay free; `across` is how wide an area is.
function placedLabels(candidates, toScreen, widthOf, { width, height }, { occupied, radius, across }) {
  const [taken, placed] = [[...occupied], []];
  for (const i of candidates.slice(0, MOST_TRIED)) {
    if (placed.length === MOST_LABELS) break;
    const [x, y] = toScreen(i);
    const fits = (text) => widthOf(text) + 2 * LABEL.gap <= across(i);
    const words = across ? [labelOf(i), rankText(i)].find(fits) : labelOf(i);
    if (words === undefined) continue;
    const wide = widthOf(words);
    const [away, half] = [radius + LABEL.gap, LABEL.height / 2];
    const corners = across
      ? [[x - wide / 2, y - half]]
      : [[x + away, y - half], [x - away - wide, y - half], [x - wide / 2, y - away - LABEL.height], [x - wide / 2, y + away]];
    for (const [left, top] of corners) {
      const box = [left - 2, top - 1, left + wide + 2, top + LABEL.height + 1];
      if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height || taken.some((each) => touches(each, box))) continue;
      taken.push(box);
      placed.push([i, words, left, top]);
      break;
    }
  }
  return placed;
}

function drawNames(ink, placed) {
  ink.save();
  ink.font = "600 12px system-ui, sans-serif";
  ink.textBaseline = "top";
  ink.lineJoin = "round";
  ink.lineWidth = 3.5;
  ink.strokeStyle = styleColour("--halo");
  ink.fillStyle = styleColour("--ink");
  for (const [, words, left, top] of placed) {
    ink.strokeText(words, left, top + 1);
    ink.fillText(words, left, top + 1);
  }
  ink.restore();
}
