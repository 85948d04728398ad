// Strips of cells (demos/figures/cell_strip.py): tells the number under the pointer, and shows that place in all strips of a
// group. Runs once per gr.HTML as its js_on_load: `element` is that component, `props.name` its id.
const tip = document.querySelector("body > .cells-tip") ?? document.createElement("div");
tip.className = "cells-tip";
tip.setAttribute("aria-hidden", "true"); // the tables below say the same
tip.hidden = true;
document.body.append(tip); // not into `element`, whose children gradio takes for its own
let chosen = 0;

const numbers = (strip) => strip.dataset.values.split(" ").map(Number);
const written = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(4);
const named = (id) => element.querySelector(`.cells[data-id="${CSS.escape(id)}"]`);

function place(strip, event) {
  const box = strip.getBoundingClientRect();
  const count = numbers(strip).length;
  return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / box.width) * count)));
}

function told(strip, at) {
  const value = numbers(strip)[at];
  const { name, by, factor } = strip.dataset;
  const first = Number(strip.dataset.first ?? 0);
  const lines = [`${name}, number ${first + at}: ${written(value)}`];
  const other = by && named(by);
  if (other) {
    const second = numbers(other)[at];
    lines.push(`× ${other.dataset.name} ${written(second)} = ${written(value * second)}`);
  }
  if (factor !== undefined) lines.push(`= ${written(Number(factor))} × ${written(Number(factor) ? value / Number(factor) : 0)}`);
  return lines.join("\n");
}

// ---- a group: the same place in all strips under one another, its numbers in the column beside them
function mark(at) {
  const table = element.querySelector("[data-at]");
  if (!table) return;
  for (const strip of table.querySelectorAll('.cells[data-group="block"]')) {
    const values = numbers(strip);
    strip.style.setProperty("--at", `${((at + 0.5) / values.length) * 100}%`);
    const cell = strip.closest("tr")?.querySelector(".at");
    if (cell) cell.textContent = written(values[at]);
  }
  for (const number of table.querySelectorAll(".at-number")) number.textContent = at;
}

const resting = () => Number(element.querySelector("[data-at]")?.dataset.at ?? 0);

element.addEventListener("pointermove", (event) => {
  const strip = event.target.closest?.(".cells[data-name]");
  if (!strip) return leave();
  const at = place(strip, event);
  tip.textContent = told(strip, at);
  tip.hidden = false;
  tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(event.clientY + 18, window.innerHeight - tip.offsetHeight - 4)}px`;
  if (strip.dataset.group) mark(at);
});

function leave() {
  if (tip.hidden) return;
  tip.hidden = true;
  mark(resting());
}
element.addEventListener("pointerleave", leave);

element.addEventListener("click", (event) => {
  const key = event.target.closest?.("[data-token]");
  const strip = event.target.closest?.('.cells[data-group="block"]');
  if (key) document.querySelector(`#${props.picker} [data-token="${key.dataset.token}"]`)?.click();
  if (!strip) return;
  chosen = place(strip, event);
  trigger("select");
});

watch("value", () => {
  tip.hidden = true;
});

((window.insideBert ??= {}).cells ??= {})[props.name] = {
  number: () => chosen,
};
