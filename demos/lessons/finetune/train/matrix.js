// The confusion matrix's buttons: the pressed cell's sentences are shown, the others' hidden; arrow keys walk the cells.
const cells = () => [...element.querySelectorAll("[data-cell]")];

function choose(cell) {
  for (const other of cells()) {
    other.setAttribute("aria-pressed", other === cell);
    other.tabIndex = other === cell ? 0 : -1;
  }
  for (const list of element.querySelectorAll("[data-list]")) list.hidden = list.dataset.list !== cell.dataset.cell;
}

element.addEventListener("click", (event) => {
  const cell = event.target.closest?.("[data-cell]");
  if (cell) choose(cell);
});

element.addEventListener("keydown", (event) => {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target.closest?.("[data-cell]");
  if (!step || !here) return;
  event.preventDefault();
  event.stopPropagation(); // else the arrow would turn to the next part too
  const at = new Map(cells().map((cell) => [cell.dataset.cell, cell]));
  const size = element.querySelectorAll("tbody tr").length;
  let [row, column] = here.dataset.cell.split("-").map(Number);
  for (;;) {
    row += step[0];
    column += step[1];
    if (row < 0 || column < 0 || row >= size || column >= size) return;
    const next = at.get(`${row}-${column}`); // where nothing is counted there is no button
    if (next) {
      choose(next);
      next.focus();
      return;
    }
  }
});

const first = () => cells().forEach((cell) => (cell.tabIndex = cell.getAttribute("aria-pressed") === "true" ? 0 : -1));
watch("value", first);
first();
