// Matrices side by side: a cell under the pointer or at the arrow keys is lit in all that share its axes, and described.
// Runs once per gr.HTML as its js_on_load: `element` is that component.
const board = () => element.querySelector(".matrices");
const pair = (text) => text.split(" ").map(Number);

// A number with four digits, as Python's format ".4g" writes it
function written(value) {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e4)) return String(Number(value.toPrecision(4)));
  const [digits, power] = value.toExponential(3).split("e");
  return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

let placed = {}; // by axis, the number of its place

// The places, and those that they have on an axis of which theirs is a part: one head's columns among those of all heads.
function widened(places, parts) {
  const all = { ...places };
  for (const [part, [whole, begin, count]] of Object.entries(parts)) {
    if (part in places) all[whole] = begin + places[part];
    else if (places[whole] >= begin && places[whole] < begin + count) all[part] = places[whole] - begin;
  }
  return all;
}

function light(pointed) {
  const root = board();
  if (!root) return;
  placed = widened(pointed, JSON.parse(root.dataset.parts));
  for (const axis of root.style) if (axis.startsWith("--at-")) root.style.setProperty(axis, "-9");
  for (const matrix of root.querySelectorAll(".matrix")) {
    const [rows, columns] = pair(matrix.dataset.cells);
    for (const [axis, count] of [[matrix.dataset.rows, rows], [matrix.dataset.columns, columns]]) {
      if (axis in placed) root.style.setProperty(`--at-${axis}`, (placed[axis] + 0.5) / count);
    }
  }
}

function rest() {
  const root = board();
  if (!root) return;
  light(JSON.parse(root.dataset.resting));
  const told = root.querySelector(".matrices-told");
  told.textContent = told.dataset.hint;
}

function follow(matrix, row, column) {
  const names = JSON.parse(board().dataset.names);
  const { rows, columns, name, cells } = matrix.dataset;
  light({ ...JSON.parse(board().dataset.resting), [rows]: row, [columns]: column });
  const begins = JSON.parse(board().dataset.begins);
  const said = (axis, at) => `${at + (begins[axis] ?? 0)}${names[axis]?.[at] ? ` (${names[axis][at]})` : ""}`;
  const value = matrix.numbers[row * pair(cells)[1] + column];
  const told = value === undefined ? "" : `: ${written(value).replace("-", "−")}`;
  board().querySelector(".matrices-told").textContent = `${name}, row ${said(rows, row)}, column ${said(columns, column)}${told}`;
}

function place(matrix, event) {
  const box = matrix.getBoundingClientRect();
  const [rows, columns] = pair(matrix.dataset.cells);
  const within = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return [within((event.clientY - box.top) / box.height, rows), within((event.clientX - box.left) / box.width, columns)];
}

element.addEventListener("pointermove", (event) => {
  const matrix = event.target.closest?.(".matrix");
  if (matrix) follow(matrix, ...place(matrix, event));
});
element.addEventListener("pointerleave", rest);
element.addEventListener("focusout", rest);

const here = (matrix) => [placed[matrix.dataset.rows] ?? 0, placed[matrix.dataset.columns] ?? 0];
element.addEventListener("focusin", (event) => {
  const matrix = event.target.closest?.(".matrix");
  if (matrix?.matches(":focus-visible")) follow(matrix, ...here(matrix));
});
element.addEventListener("keydown", (event) => {
  const matrix = event.target.closest?.(".matrix");
  const [down, across] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
  if (!matrix || down === undefined) return;
  event.preventDefault();
  const [rows, columns] = pair(matrix.dataset.cells);
  const [row, column] = here(matrix);
  const within = (at, count) => Math.max(0, Math.min(count - 1, at));
  follow(matrix, within(row + down, rows), within(column + across, columns));
});

watch("value", () => requestAnimationFrame(rest));
requestAnimationFrame(rest);
