// Colours come from the style sheet, so that light, dark and paper are decided there alone.
const STEPS = 24;

const styleColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function parsed(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// STEPS colours, as red, green and blue, from the lowest entropy to the highest.
function ramp() {
  const stops = [0, 1, 2, 3, 4].map((at) => parsed(styleColour(`--c${at}`)));
  return Array.from({ length: STEPS }, (_, step) => {
    const along = (step / (STEPS - 1)) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(along));
    const mixed = stops[at].map((low, part) => Math.round(low + (stops[at + 1][part] - low) * (along - at)));
    return mixed;
  });
}

// Lowest and highest entropy that colours tell apart: without the outermost hundredths, which noise may carry away.
const colourRange = (() => {
  const sorted = sortedNumbers(columns.entropy);
  if (!sorted.length) return [0, 1];
  const [low, high] = [quantile(sorted, 0.01), quantile(sorted, 0.99)];
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
})();

function colourStep(value) {
  const along = (value - colourRange[0]) / (colourRange[1] - colourRange[0]);
  return Math.max(0, Math.min(STEPS - 1, Math.floor(along * STEPS)));
}
