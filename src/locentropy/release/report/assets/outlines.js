// Zones and cells as areas. A path is kept relative to its place's point: a canvas has too few digits for the whole Earth.
// A zone that is cut at the date line has rings at both ends of the world: each is drawn on the side of its place's point.
function outlinesOf({ drawn, x, y }) {
  if (!source.outlines) return null;
  const [height, width] = source.outlines;
  const squares = !has("outline");
  const [west, south, step] = squares ? [0, 0, 1] : source.outlines;
  const ringsOf = (i) =>
    squares ? [[columns.lon[i] - width / 2, columns.lat[i] - height / 2, width, 0, 0, height, -width, 0]] : columns.outline[i];
  const [paths, boxes] = [new Array(count), new Float64Array(4 * count)];
  for (const i of drawn) {
    const path = new Path2D();
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const ring of ringsOf(i)) {
      let [column, row, least, most] = [0, 0, Infinity, -Infinity];
      for (let at = 0; at < ring.length; at += 2) {
        column += ring[at];
        [least, most] = [Math.min(least, column), Math.max(most, column)];
      }
      const turns = Math.round(x[i] - (west + ((least + most) / 2) * step) / 360 - 0.5);
      column = 0;
      for (let at = 0; at < ring.length; at += 2) {
        [column, row] = [column + ring[at], row + ring[at + 1]];
        const wx = (west + column * step) / 360 + 0.5 + turns;
        const wy = mercator(south + row * step);
        [left, right, top, bottom] = [Math.min(left, wx), Math.max(right, wx), Math.min(top, wy), Math.max(bottom, wy)];
        path[at ? "lineTo" : "moveTo"](wx - x[i], wy - y[i]);
      }
      path.closePath();
    }
    paths[i] = path;
    boxes.set([left, right, top, bottom], 4 * i);
  }
  const within = (i, [left, right, top, bottom]) =>
    boxes[4 * i] <= right && boxes[4 * i + 1] >= left && boxes[4 * i + 2] <= bottom && boxes[4 * i + 3] >= top;
  return {
    box: drawn.reduce(
      ([l, r, t, b], i) => [Math.min(l, boxes[4 * i]), Math.max(r, boxes[4 * i + 1]), Math.min(t, boxes[4 * i + 2]), Math.max(b, boxes[4 * i + 3])],
      [Infinity, -Infinity, Infinity, -Infinity],
    ),
    across: (i) => boxes[4 * i + 1] - boxes[4 * i],
    // Calls `each` for the areas that a box touches, with the canvas set to their scale.
    visit: (ink, ratio, view, part, each) => {
      ink.save();
      for (const i of drawn) {
        if (!within(i, part)) continue;
        const [px, py] = [(x[i] - view.x) * view.scale + view.width / 2, (y[i] - view.y) * view.scale + view.height / 2];
        ink.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, px * ratio, py * ratio);
        if (each(i, paths[i]) === false) break;
      }
      ink.restore();
    },
  };
}
