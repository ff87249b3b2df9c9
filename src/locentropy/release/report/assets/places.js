// Where places are: on Mercator's square, whose sides are 1, and in a grid of cells for finding the nearest one.
const MOST_LATITUDE = 85;

const mercator = (lat) => {
  const bounded = (Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, lat)) * Math.PI) / 180;
  return 0.5 - Math.log(Math.tan(Math.PI / 4 + bounded / 2)) / (2 * Math.PI);
};
const latitude = (y) => ((2 * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - Math.PI / 2) * 180) / Math.PI;

// Longitudes are cut in the middle of the widest gap, so that places on both sides of the date line stay together.
function cutAt(longitudes) {
  const sorted = Float64Array.from(longitudes).sort();
  let [widest, cut] = [sorted[0] + 360 - sorted[sorted.length - 1], -180];
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i] - sorted[i - 1] > Math.max(widest, 180)) {
      widest = sorted[i] - sorted[i - 1];
      cut = sorted[i] - widest / 2;
    }
  }
  return cut;
}

function locate() {
  const drawn = [];
  for (let i = count - 1; i >= 0; i--) if (isOnMap(i)) drawn.push(i); // the highest last, on top of the others
  const cut = cutAt(drawn.map((i) => columns.lon[i]));
  const x = new Float64Array(count).fill(NaN);
  const y = new Float64Array(count).fill(NaN);
  for (const i of drawn) {
    const lon = columns.lon[i] < cut ? columns.lon[i] + 360 : columns.lon[i];
    x[i] = lon / 360 + 0.5;
    y[i] = mercator(columns.lat[i]);
  }
  return { drawn, x, y };
}

// The box to show: all places, or without the outermost hundredths if a few stray places would make the rest tiny.
function boxOf({ drawn, x, y }) {
  const side = (values) => {
    const sorted = Float64Array.from(drawn, (i) => values[i]).sort();
    const [first, last] = [sorted[0], sorted[sorted.length - 1]];
    const [low, high] = [quantile(sorted, 0.01), quantile(sorted, 0.99)];
    return last - first > 4 * (high - low) && high > low ? [low, high] : [first, last];
  };
  return [...side(x), ...side(y)];
}

function gridOf({ drawn, x, y }) {
  const [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const box = drawn.reduce(
    ([l, r, t, b], i) => [Math.min(l, x[i]), Math.max(r, x[i]), Math.min(t, y[i]), Math.max(b, y[i])],
    [left, right, top, bottom],
  );
  const sides = Math.max(1, Math.ceil(Math.sqrt(drawn.length / 2)));
  const cell = Math.max((box[1] - box[0]) / sides, (box[3] - box[2]) / sides, 1e-12);
  const cells = new Map();
  const key = (column, row) => column * 1048576 + row;
  const at = (value, start) => Math.floor((value - start) / cell);
  for (const i of drawn) {
    const place = key(at(x[i], box[0]), at(y[i], box[2]));
    if (cells.has(place)) cells.get(place).push(i);
    else cells.set(place, [i]);
  }
  // The nearest place within a distance; of equally near ones the highest.
  return (px, py, reach, isShown) => {
    let [best, found] = [reach * reach, -1];
    const [c0, c1] = [at(px - reach, box[0]), at(px + reach, box[0])].map((c) => Math.max(-1, Math.min(sides + 1, c)));
    const [r0, r1] = [at(py - reach, box[2]), at(py + reach, box[2])].map((r) => Math.max(-1, Math.min(sides + 1, r)));
    for (let column = c0; column <= c1; column++) {
      for (let row = r0; row <= r1; row++) {
        for (const i of cells.get(key(column, row)) ?? []) {
          const away = (x[i] - px) ** 2 + (y[i] - py) ** 2;
          if (away <= best && isShown(i)) [best, found] = [away, i];
        }
      }
    }
    return found;
  };
}
