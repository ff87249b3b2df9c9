// The outlines that the owner gave, behind the places. Like areas, each is kept relative to a point of its own: a canvas has
// too few digits for the whole Earth.
function backgroundOf(box) {
  const stored = document.getElementById("background");
  if (!stored) return null;
  const { scale: [west, south, step], areas, lines } = JSON.parse(stored.textContent);
  const middle = (box[0] + box[1]) / 2;

  function shape(rings, closed) {
    let [column, row] = [0, 0];
    const corners = rings.map((ring) => {
      [column, row] = [0, 0];
      return Array.from({ length: ring.length / 2 }, (_, k) => {
        [column, row] = [column + ring[2 * k], row + ring[2 * k + 1]];
        return [(west + column * step) / 360 + 0.5, mercator(south + row * step)];
      });
    });
    const [x, y] = corners[0][0];
    const turns = Math.round(middle - x); // to the side of the date line where the places are
    const path = new Path2D();
    for (const ring of corners) {
      ring.forEach(([wx, wy], k) => path[k ? "lineTo" : "moveTo"](wx - x, wy - y));
      if (closed) path.closePath();
    }
    return { path, closed, x: x + turns, y };
  }

  const shapes = [...areas.map((rings) => shape(rings, true)), ...lines.map((line) => shape([line], false))];
  return (ink, ratio, view) => {
    ink.save();
    ink.lineJoin = "round";
    ink.fillStyle = styleColour("--land");
    ink.strokeStyle = styleColour("--shore");
    ink.lineWidth = 1.2 / view.scale;
    for (const { path, closed, x, y } of shapes) {
      const [px, py] = [(x - view.x) * view.scale + view.width / 2, (y - view.y) * view.scale + view.height / 2];
      ink.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, px * ratio, py * ratio);
      if (closed) ink.fill(path, "evenodd");
      ink.stroke(path);
    }
    ink.restore();
  };
}
