// The table as a file, made of what this page carries, and the citation for the clipboard. Nothing is asked of any network.
const FORMULA = /^[=+\-@\t\r]/;

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value; // a spreadsheet would run it
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// Columns by the names that they have in the tables beside this page.
function tableColumns() {
  const counted = ["visitors", "visits"].flatMap((word) => [word, `${word}_low`, `${word}_high`]);
  const given = (name, column = name) => (has(column) ? [[name, columns[column]]] : []);
  const visitors = columns.entropy.map((_, i) => (isPublished(i) ? Number(visitorsOf(i).toPrecision(6)) : null));
  return [
    ["location", columns.id],
    ...["name", "lat", "lon"].flatMap((name) => given(name)),
    ...source.attributes.map((name, number) => [name, columns[`a${number}`]]),
    ["rank", columns.rank],
    ["entropy", columns.entropy],
    ["effective_visitors", visitors],
    ...["std_error", "low", "high", "entropy_alone", "change", "change_probability"].flatMap((name) => given(name)),
    ...counted.flatMap((name) => given(name, `counted_${name}`)),
    ...given("top_chance", "chance"),
    ...(source.mark ? [["not_private", columns.id.map(() => source.mark)]] : []),
  ];
}

function tableText() {
  const found = tableColumns();
  const lines = [found.map(([name]) => cellText(name)), ...columns.id.map((_, i) => found.map(([, values]) => cellText(values[i])))];
  return `\ufeff${lines.map((cells) => `${cells.join(",")}\r\n`).join("")}`; // with the mark by which Excel knows UTF-8
}

function download() {
  const address = URL.createObjectURL(new Blob([tableText()], { type: "text/csv" }));
  element("a", { href: address, download: source.file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function selectText(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

async function copyCitation(citation, told) {
  selectText(citation); // where the clipboard is closed to pages, the reader can copy what is selected
  try {
    await navigator.clipboard.writeText(citation.textContent);
    told.textContent = told.dataset.done;
  } catch {
    told.textContent = document.execCommand("copy") ? told.dataset.done : told.dataset.selected;
  }
}

function createFiles() {
  const [citation, told] = [document.getElementById("citation"), document.getElementById("copied")];
  document.getElementById("download").addEventListener("click", download);
  document.getElementById("copy").addEventListener("click", () => copyCitation(citation, told));
  for (const button of document.querySelectorAll(".for-script")) button.hidden = false;
}
