// Fingers on the map: one scrolls the page, so that nobody gets stuck in the map; two move and zoom it.
const SLIP = 10; // pixels that a finger may stray and still only tap

function leaveOneFingerToThePage(canvas) {
  const hint = document.getElementById("two-fingers");
  let [start, several] = [null, false];

  const tell = (wanted) => hint.classList.toggle("shown", wanted);

  // The browser scrolls with as many fingers as there are, unless it is told early that two are meant for the map.
  function keep(event) {
    several ||= event.touches.length > 1;
    if (event.touches.length > 1 && event.cancelable) event.preventDefault();
  }

  canvas.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length === 1) {
        const [{ clientX, clientY }] = event.touches;
        [start, several] = [[clientX, clientY], false];
      }
      keep(event);
      tell(false);
    },
    { passive: false },
  );
  canvas.addEventListener(
    "touchmove",
    (event) => {
      keep(event);
      const [{ clientX, clientY }] = event.touches;
      if (!several && Math.hypot(clientX - start[0], clientY - start[1]) > SLIP) tell(true);
    },
    { passive: false },
  );
  for (const end of ["touchend", "touchcancel"]) canvas.addEventListener(end, () => tell(false));
}
