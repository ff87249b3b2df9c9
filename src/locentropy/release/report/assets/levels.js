// The level that the address names takes the place of the main one, before anything else is done.
const MAIN_LEVEL = "1";
const levelNamed = () => /^#level=(\d+)$/.exec(location.hash)?.[1] ?? null;
const shownLevel = document.getElementById(`level-${levelNamed()}`) ? levelNamed() : MAIN_LEVEL;
if (shownLevel !== MAIN_LEVEL) {
  const stored = document.getElementById(`level-${shownLevel}`).content.cloneNode(true);
  for (const part of ["header", "main"]) document.querySelector(part).replaceWith(stored.querySelector(part));
  document.getElementById("data").textContent = document.getElementById(`data-${shownLevel}`).textContent;
}
// Other addresses, such as that of the list, leave the level as it is.
window.addEventListener("hashchange", () => {
  if (levelNamed() !== null && levelNamed() !== shownLevel) location.reload();
});
