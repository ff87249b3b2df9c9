// Put together: the map if there is one, its legend, the list, and what changes with light, size and paper.
let [show, shownOnly] = [() => {}, () => {}];
const canvas = document.getElementById("canvas");
if (canvas) {
  const map = createMap(canvas);
  show = handle(map);
  shownOnly = map.only;
  new ResizeObserver(map.resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", map.redraw);
  // Paper is white: colours are those of the light page while printing.
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("print");
    map.drawNow();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("print");
    map.drawNow();
  });
  document.getElementById("legend-low").textContent = `≤ ${roundish(visitorsAt(colourRange[0]))}`;
  document.getElementById("legend-high").textContent = `≥ ${roundish(visitorsAt(colourRange[1]))}`;
  document.getElementById("sureness").hidden = !has("certainty");
  if (source.outlines) for (const sample of document.querySelectorAll("#sureness circle")) sample.setAttribute("r", 6); // areas differ in ink alone
  document.getElementById("legend").hidden = false;
}
createList(show, shownOnly);
createFiles();
