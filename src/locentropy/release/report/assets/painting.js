// Dots are painted into the sheet's own bytes: a hundred thousand of them in the time that a browser takes for a few
// thousand circles.
const SURE_STEPS = 8;
const WITHHELD = 0.25;

const opacityOf = (sure) => 0.3 + 0.65 * sure;
const sizeOf = (sure) => 0.7 + 0.6 * sure;

// How much of each pixel a dot covers, from 0 to 256, its middle in the middle.
function maskOf(radius, opacity) {
  const half = Math.ceil(radius + 0.5);
  const side = 2 * half + 1;
  const cover = Array.from({ length: side * side }, (_, at) => {
    const away = Math.hypot((at % side) - half, Math.floor(at / side) - half);
    return Math.round(256 * opacity * Math.max(0, Math.min(1, radius + 0.5 - away)));
  });
  return { half, side, cover: Uint16Array.from(cover) };
}

function masksOf(radius) {
  const steps = Array.from({ length: SURE_STEPS }, (_, step) => step / (SURE_STEPS - 1));
  return [...steps.map((sure) => maskOf(radius * sizeOf(sure), opacityOf(sure))), maskOf(radius * 0.6, WITHHELD)];
}

// For each place: which mask, and which colour; neither changes while the map moves.
const maskStep = Uint8Array.from({ length: count }, (_, i) =>
  isPublished(i) ? Math.round((sureness(i) ?? 0.6) * (SURE_STEPS - 1)) : SURE_STEPS,
);
const colourSteps = Uint8Array.from({ length: count }, (_, i) => (isPublished(i) ? colourStep(columns.entropy[i]) : STEPS));

function createSheet(width, height) {
  const image = new ImageData(width, height);
  const bytes = image.data;
  const pixels = new Uint32Array(bytes.buffer);
  const canvas = element("canvas", { width, height });
  const own = canvas.getContext("2d", { willReadFrequently: true });
  const packed = (hex) => new Uint32Array(new Uint8Array([...parsed(hex), 255]).buffer)[0];

  return {
    // By way of a canvas of its own: on paper, browsers leave out bytes that are put into the one they print.
    stamp: (ink) => {
      own.putImageData(image, 0, 0);
      ink.setTransform(1, 0, 0, 1, 0, 0);
      ink.drawImage(canvas, 0, 0);
    },
    clear: (hex) => pixels.fill(packed(hex)),
    // What a function draws, below all that is painted afterwards.
    under: (draw) => {
      own.putImageData(image, 0, 0);
      draw(own);
      bytes.set(own.getImageData(0, 0, width, height).data);
    },
    across: (y, hex) => y >= 0 && y < height && pixels.fill(packed(hex), y * width, (y + 1) * width),
    down: (x, hex) => {
      if (x < 0 || x >= width) return;
      const colour = packed(hex);
      for (let at = x; at < pixels.length; at += width) pixels[at] = colour;
    },
    dot: (x, y, { half, side, cover }, [red, green, blue]) => {
      const [left, top] = [Math.round(x) - half, Math.round(y) - half];
      const [first, last] = [Math.max(0, -left), Math.min(side, width - left)];
      for (let row = Math.max(0, -top); row < side && top + row < height; row++) {
        let at = 4 * ((top + row) * width + left + first);
        for (let column = first; column < last; column++, at += 4) {
          const share = cover[row * side + column];
          if (!share) continue;
          bytes[at] += ((red - bytes[at]) * share) >> 8;
          bytes[at + 1] += ((green - bytes[at + 1]) * share) >> 8;
          bytes[at + 2] += ((blue - bytes[at + 2]) * share) >> 8;
        }
      }
    },
  };
}
