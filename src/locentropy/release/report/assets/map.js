// The map: dots, or areas where places have outlines, on a blank sheet with a graticule and a scale, drawn anew whenever something moves.
const EARTH = 40075016.686; // metres around the equator
const NICE = [1, 2, 5];

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return (NICE.find((step) => step * power >= least) ?? 10) * power;
}

function createMap(canvas) {
  const where = locate();
  const nearest = gridOf(where);
  const areas = outlinesOf(where);
  const box = areas?.box ?? boxOf(where);
  const background = backgroundOf(box);
  const ink = canvas.getContext("2d");
  const view = { x: 0.5, y: 0.5, scale: 1, all: 1, width: 0, height: 0 };
  let [sheet, marked, waiting] = [null, -1, false];
  let chosen = null; // what the search and the filters have found, if they are set
  const isShown = (i) => chosen === null || chosen[i] === 1;

  const toScreen = (i) => [
    (where.x[i] - view.x) * view.scale + view.width / 2,
    (where.y[i] - view.y) * view.scale + view.height / 2,
  ];
  const toWorld = (px, py) => [(px - view.width / 2) / view.scale + view.x, (py - view.height / 2) / view.scale + view.y];

  function radius() {
    const room = Math.sqrt((view.width * view.height) / Math.max(1, where.drawn.length));
    const base = Math.max(1.7, Math.min(6, room * 0.32));
    return base * Math.min(2.6, Math.max(1, (view.scale / view.all) ** 0.35));
  }

  function showAll() {
    const margin = 28;
    const across = Math.max(box[1] - box[0], 1e-6);
    const down = Math.max(box[3] - box[2], 1e-6);
    view.scale = Math.min((view.width - 2 * margin) / across, (view.height - 2 * margin) / down);
    view.all = view.scale;
    [view.x, view.y] = [(box[0] + box[1]) / 2, (box[2] + box[3]) / 2];
    redraw();
  }

  function zoom(factor, px = view.width / 2, py = view.height / 2) {
    const [wx, wy] = toWorld(px, py);
    view.scale = Math.max(view.all / 4, Math.min(view.all * 4000, view.scale * factor));
    view.x = wx - (px - view.width / 2) / view.scale;
    view.y = wy - (py - view.height / 2) / view.scale;
    redraw();
  }

  function move(dx, dy) {
    view.x -= dx / view.scale;
    view.y -= dy / view.scale;
    redraw();
  }

  function centre(i) {
    [view.x, view.y] = [where.x[i], where.y[i]];
    view.scale = Math.max(view.scale, view.all * 4);
    mark(i);
  }

  function mark(i) {
    if (marked === i) return;
    marked = i;
    redraw();
  }

  // Only these places, by their indices; all of them if there are none to choose.
  function only(found) {
    chosen = found && new Uint8Array(count);
    for (const i of found ?? []) chosen[i] = 1;
    redraw();
  }

  function resize() {
    const first = view.width === 0;
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = canvas;
    if (!clientWidth || !clientHeight) return;
    const shown = view.scale / view.all;
    [view.width, view.height] = [clientWidth, clientHeight];
    [canvas.width, canvas.height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    sheet = createSheet(canvas.width, canvas.height);
    if (first || shown === 1) showAll();
    else redraw();
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }

  function draw() {
    if (!sheet) return;
    const ratio = canvas.width / view.width;
    const labels = graticule();
    sheet.clear(styleColour("--sea"));
    if (background) sheet.under((under) => background(under, ratio, view));
    for (const { px, py } of labels) {
      if (py === undefined) sheet.down(Math.round(px * ratio), styleColour("--grid"));
      else sheet.across(Math.round(py * ratio), styleColour("--grid"));
    }
    if (!areas) paintDots(ratio);
    sheet.stamp(ink);
    if (areas) paintAreas(ratio);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawLabels(labels);
    const names = labelled();
    drawNames(ink, names);
    if (marked >= 0) drawMark();
    drawScale();
    canvas.dataset.labels = JSON.stringify(names);
    canvas.dataset.view = JSON.stringify([view.x, view.y, view.scale]);
  }

  function paintDots(ratio) {
    const size = radius();
    const masks = masksOf(size * ratio);
    const colours = [...ramp(), parsed(styleColour("--soft"))];
    const edge = 2 * size;
    const [left, top] = [view.width / 2 - view.x * view.scale, view.height / 2 - view.y * view.scale];
    for (const i of where.drawn) {
      if (!isShown(i)) continue;
      const px = where.x[i] * view.scale + left;
      const py = where.y[i] * view.scale + top;
      if (px < -edge || py < -edge || px > view.width + edge || py > view.height + edge) continue;
      sheet.dot(px * ratio, py * ratio, masks[maskStep[i]], colours[colourSteps[i]]);
    }
  }

  function paintAreas(ratio) {
    const colours = [...ramp(), parsed(styleColour("--soft"))];
    ink.lineJoin = "round";
    ink.strokeStyle = styleColour("--paper");
    ink.lineWidth = 0.8 / view.scale;
    areas.visit(ink, ratio, view, edges(), (i, path) => {
      if (!isShown(i)) return; // its neighbours' borders tell where it is
      ink.globalAlpha = isPublished(i) ? opacityOf(sureness(i) ?? 0.6) : WITHHELD;
      ink.fillStyle = `rgb(${colours[colourSteps[i]].join(" ")})`;
      ink.fill(path, "evenodd");
      ink.globalAlpha = 1;
      if (areas.across(i) * view.scale > 5) ink.stroke(path); // of smaller ones little else would be seen
    });
  }

  // Left, right, top and bottom of what is seen.
  function edges() {
    const [[left, top], [right, bottom]] = [toWorld(0, 0), toWorld(view.width, view.height)];
    return [left, right, top, bottom];
  }

  function areaAt(px, py) {
    const ratio = canvas.width / view.width;
    const [wx, wy] = toWorld(px, py);
    let found = -1;
    areas.visit(ink, ratio, view, [wx, wx, wy, wy], (i, path) => {
      if (isShown(i) && ink.isPointInPath(path, px * ratio, py * ratio, "evenodd")) found = i;
    });
    return found;
  }

  function drawMark() {
    if (areas) {
      const ratio = canvas.width / view.width;
      const [x, y] = [where.x[marked], where.y[marked]];
      areas.visit(ink, ratio, view, [x, x, y, y], (i, path) => {
        if (i !== marked) return;
        for (const [width, colour] of [[5, "--paper"], [2.5, "--ink"]]) {
          ink.lineWidth = width / view.scale;
          ink.strokeStyle = styleColour(colour);
          ink.stroke(path);
        }
      });
      return;
    }
    const [px, py] = toScreen(marked);
    for (const [width, colour] of [[5, "--paper"], [2.5, "--ink"]]) {
      ink.beginPath();
      ink.arc(px, py, radius() * 1.3 + 3, 0, 2 * Math.PI);
      ink.lineWidth = width;
      ink.strokeStyle = styleColour(colour);
      ink.stroke();
    }
  }

  // The highest places that are seen, with their names where these fit.
  function labelled() {
    const [left, right, top, bottom] = edges();
    const seen = [];
    for (let i = 0; i < count && seen.length < MOST_TRIED; i++) {
      if (!isOnMap(i) || !isPublished(i) || !isShown(i)) continue;
      if (where.x[i] > left && where.x[i] < right && where.y[i] > top && where.y[i] < bottom) seen.push(i);
    }
    const occupied = [[view.width - 60, 0, view.width, 140], [0, view.height - 48, 170, view.height]]; // buttons and scale
    ink.font = "600 12px system-ui, sans-serif";
    return placedLabels(seen, toScreen, (words) => ink.measureText(words).width, view, { occupied, radius: radius(), across: areas && ((i) => areas.across(i) * view.scale) });
  }

  // Lines of equal longitude (px) and latitude (py), and what they are called.
  function graticule() {
    const step = niceStep((90 / view.scale) * 360);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const [left, top] = toWorld(0, 0);
    const [right, bottom] = toWorld(view.width, view.height);
    const named = (value, above, below) => `${withDigits(Math.abs(value), digits)}° ${say("compass", {}, value < 0 ? below : above)}`;
    const lines = [];
    for (let k = Math.ceil(((left - 0.5) * 360) / step); k * step <= (right - 0.5) * 360; k++) {
      const lon = ((((k * step + 180) % 360) + 360) % 360) - 180;
      lines.push({ px: ((k * step) / 360 + 0.5 - view.x) * view.scale + view.width / 2, words: named(lon, "E", "W") });
    }
    for (let k = Math.ceil(latitude(bottom) / step); k * step <= latitude(top); k++) {
      lines.push({ py: (mercator(k * step) - view.y) * view.scale + view.height / 2, words: named(k * step, "N", "S") });
    }
    return lines;
  }

  function drawLabels(lines) {
    ink.font = "11px system-ui, sans-serif";
    ink.textBaseline = "top";
    ink.fillStyle = styleColour("--soft");
    for (const { px, py, words } of lines) {
      const [x, y] = py === undefined ? [px + 4, 5] : [6, py + 4];
      if (py === undefined ? px > view.width - 110 : py < 22 || py > view.height - 48) continue;
      ink.fillText(words, x, y);
    }
  }

  function drawScale() {
    const metres = (EARTH * Math.cos((latitude(view.y) * Math.PI) / 180)) / view.scale;
    const length = niceStep(50 * metres);
    const [x, y, long] = [12, view.height - 14, length / metres];
    const words = length >= 1000 ? `${wholeNumbers.format(length / 1000)} km` : `${decimalMarked(String(Number(length.toPrecision(2))))} m`;
    for (const [width, colour] of [[5, "--sea"], [2, "--ink"]]) {
      ink.lineWidth = width;
      ink.strokeStyle = styleColour(colour);
      ink.beginPath();
      ink.moveTo(x, y - 6);
      ink.lineTo(x, y);
      ink.lineTo(x + long, y);
      ink.lineTo(x + long, y - 6);
      ink.stroke();
    }
    ink.fillStyle = styleColour("--ink");
    ink.textBaseline = "bottom";
    ink.fillText(words, x + 6, y - 3);
  }

  const find = (px, py) => areas ? areaAt(px, py) : nearest(...toWorld(px, py), Math.max(10, radius() + 4) / view.scale, isShown);

  return { canvas, showAll, zoom, move, centre, mark, only, resize, redraw, find, toScreen, drawNow: draw };
}
