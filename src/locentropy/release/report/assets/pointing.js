// Hands on the map: mouse, fingers, wheel, keys, buttons; and the box that tells about one place.
const KEYS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

function facts(i) {
  if (!isPublished(i)) return [[say("value"), whyEmpty(i)], ...countsOf(i), ...attributesOf(i)];
  const told = [
    [say("rank"), say("rank_of", { rank: rankText(i), total: wholeNumbers.format(source.total) })],
    [say("entropy"), `${inUnit(columns.entropy[i])} ${unitName}`],
  ];
  if (has("low")) told.push([say("interval"), intervalText(i)]);
  told.push([say("visitors"), roundish(visitorsOf(i))]);
  if (has("chance")) told.push([say("top", { top: source.top }), percent(columns.chance[i])]);
  if (has("change")) told.push(...seriesFacts(i));
  told.push(...countsOf(i), ...attributesOf(i));
  return told;
}

function handle(map) {
  const { canvas } = map;
  const tip = document.getElementById("tip");
  const said = document.getElementById("said");
  const fingers = new Map();
  let moved = 0;
  let [fixed, wheelWanted] = [-1, false];

  function tell(i) {
    map.mark(i);
    canvas.classList.toggle("pointing", i >= 0);
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.dataset.place = columns.id[i];
    const rows = facts(i).flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]);
    const id = isNamed(i) ? [element("dt", {}, say("id")), element("dd", {}, columns.id[i])] : [];
    tip.replaceChildren(element("strong", {}, nameElement(i)), element("dl", {}, ...rows, ...id));
    place(i);
  }

  function place(i) {
    const [px, py] = map.toScreen(i);
    const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
    const left = px + 16 + wide < canvas.clientWidth ? px + 16 : px - 16 - wide;
    tip.style.left = `${Math.max(4, Math.min(left, canvas.clientWidth - wide - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(py - high / 2, canvas.clientHeight - high - 4))}px`;
  }

  function changed(act) {
    act();
    tell(fixed = -1);
  }

  const isTap = (event) => moved < (event.pointerType === "mouse" ? 4 : SLIP);

  const pointAt = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  leaveOneFingerToThePage(canvas);

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, pointAt(event));
    moved = 0;
    wheelWanted = true;
  });

  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = pointAt(event);
    if (!fingers.has(event.pointerId)) {
      const i = map.find(px, py);
      tell(i >= 0 ? i : fixed);
      return;
    }
    const [ox, oy] = fingers.get(event.pointerId);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, [px, py]);
    moved += Math.hypot(px - ox, py - oy);
    if (isTap(event) || (event.pointerType !== "mouse" && !other)) return; // one finger scrolls the page
    canvas.classList.add("dragging");
    changed(() => {
      if (other) {
        const [before, after] = [Math.hypot(ox - other[0], oy - other[1]), Math.hypot(px - other[0], py - other[1])];
        map.move((px - ox) / 2, (py - oy) / 2);
        if (before > 0) map.zoom(after / before, (px + other[0]) / 2, (py + other[1]) / 2);
      } else map.move(px - ox, py - oy);
    });
  });

  function lift(event) {
    if (!fingers.delete(event.pointerId)) return;
    canvas.classList.remove("dragging");
    if (event.type === "pointerup" && isTap(event)) tell(fixed = map.find(...pointAt(event)));
  }
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => tell(fixed));
  canvas.addEventListener("dblclick", (event) => changed(() => map.zoom(2, ...pointAt(event))));

  // The wheel scrolls the page until the map was clicked, so that nobody gets stuck in it.
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!wheelWanted && !event.ctrlKey) return;
      event.preventDefault();
      changed(() => map.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) * 0.0025), ...pointAt(event)));
    },
    { passive: false },
  );
  canvas.addEventListener("blur", () => (wheelWanted = false));

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "+": () => map.zoom(1.5),
      "=": () => map.zoom(1.5),
      "-": () => map.zoom(1 / 1.5),
      0: map.showAll,
      Escape: () => {},
    }[event.key] ?? (KEYS[event.key] && (() => map.move(...KEYS[event.key])));
    if (!act) return;
    event.preventDefault();
    changed(act);
  });

  document.getElementById("zoom-in").addEventListener("click", () => changed(() => map.zoom(1.7)));
  document.getElementById("zoom-out").addEventListener("click", () => changed(() => map.zoom(1 / 1.7)));
  document.getElementById("zoom-all").addEventListener("click", () => changed(map.showAll));

  // Show one place, asked for from the list.
  return (i) => {
    map.centre(i);
    tell(fixed = i);
    said.textContent = `${nameOf(i)}: ${facts(i).map((pair) => pair.join(" ")).join(", ")}`;
    document.getElementById("map").scrollIntoView({ block: "center" });
    canvas.focus({ preventScroll: true });
  };
}
