// Strips of cells (demos/figures/cell_strip.py): shows the number under the pointer or at the keyboard's place, and
// marks that place in all strips of a group. Runs once per gr.HTML as its js_on_load: `element` is that component,
// `props.name` its id.
const tip = document.querySelector("body > .cells-tip") ?? document.createElement("div");
tip.className = "cells-tip";
tip.setAttribute("aria-hidden", "true"); // the strip says it by itself
tip.hidden = true;
document.body.append(tip); // not into `element`, whose children gradio takes for its own
let chosen = 0;

const numbers = (strip) => strip.numbers;
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
  const lines = [`${name}, component ${first + at}: ${written(value)}`];
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
  show(strip, at, event.clientX + 14, event.clientY + 18);
});

function show(strip, at, left, top) {
  tip.textContent = told(strip, at);
  tip.hidden = false;
  tip.style.left = `${Math.max(0, Math.min(left, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(top, window.innerHeight - tip.offsetHeight - 4)}px`;
  if (strip.dataset.group) mark(at);
}

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

// ---- the keyboard: the picture is one stop for Tab; arrows go along a strip's numbers, up and down among strips and tokens
const STOPS = ".cells[data-name], [data-token]";
const isStrip = (stop) => stop.matches(".cells");
const stops = () => [...element.querySelectorAll(STOPS)].filter((stop) => stop.checkVisibility());
let at = 0; // the number that the keyboard is at, in every strip
let kept = -1; // the place among the stops of the one with the focus, which a redrawn picture gets back

function ready() {
  for (const strip of element.querySelectorAll(".cells[data-name]")) {
    const last = numbers(strip).length - 1;
    const attributes = { role: "slider", "aria-label": strip.dataset.name, "aria-valuemin": 0, "aria-valuemax": last, "aria-valuenow": 0 };
    for (const [attribute, value] of Object.entries(attributes)) strip.setAttribute(attribute, value);
  }
  const all = stops();
  const entry = Math.max(0, Math.min(kept, all.length - 1));
  all.forEach((stop, number) => (stop.tabIndex = number === entry ? 0 : -1));
  if (kept >= 0 && document.activeElement === document.body) all[kept]?.focus({ preventScroll: true });
}
// A new drawing lacks the attribute: gradio makes new elements, or removes it from those that stay. A picture that was
// filled while hidden gets its stop once it is visible.
const mend = () => stops().some((stop) => !stop.hasAttribute("tabindex")) && ready();
new MutationObserver(mend).observe(element, { childList: true, subtree: true, attributeFilter: ["tabindex"] });
new ResizeObserver(mend).observe(element);
ready();

// The next stop in a direction: of those that lie that way, the nearest; one in the same row or column goes first.
function next(stop, across, step) {
  const [start, end, low, high] = across ? ["left", "right", "top", "bottom"] : ["top", "bottom", "left", "right"];
  const middle = (box) => (box[start] + box[end]) / 2;
  const from = stop.getBoundingClientRect();
  const far = (box) => Math.abs(middle(box) - middle(from)) + (box[low] < from[high] && box[high] > from[low] ? 0 : 10_000);
  const ways = stops().map((other) => [other, other.getBoundingClientRect()]);
  const there = ways.filter(([, box]) => (middle(box) - middle(from)) * step > from[end] / 2 - from[start] / 2);
  return there.sort(([, a], [, b]) => far(a) - far(b))[0]?.[0];
}

function go(stop) {
  for (const other of stops()) other.tabIndex = other === stop ? 0 : -1;
  stop.focus();
  if (isStrip(stop)) point(stop);
}

function point(strip) {
  const count = numbers(strip).length;
  at = Math.max(0, Math.min(count - 1, at));
  const share = (at + 0.5) / count;
  const box = strip.getBoundingClientRect();
  strip.style.setProperty("--at", `${share * 100}%`);
  strip.setAttribute("aria-valuenow", at);
  strip.setAttribute("aria-valuetext", told(strip, at));
  show(strip, at, box.left + share * box.width + 14, box.bottom + 6);
}

element.addEventListener("focusin", ({ target }) => {
  kept = stops().indexOf(target);
  if (target.matches(".cells[data-name]:focus-visible")) point(target);
});
element.addEventListener("focusout", ({ target }) => {
  leave();
  if (isStrip(target) && !target.dataset.group) target.style.removeProperty("--at");
  setTimeout(() => {
    if (target.isConnected && !element.contains(document.activeElement)) kept = -1;
  });
});

element.addEventListener("keydown", (event) => {
  const stop = event.target.closest?.(STOPS);
  if (!stop || event.altKey || event.ctrlKey || event.metaKey) return;
  const { key } = event;
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 10, ArrowLeft: -1, ArrowUp: -1, PageUp: -10 }[key];
  const last = isStrip(stop) ? numbers(stop).length - 1 : 0;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const other = next(stop, false, step);
    if (other) go(other);
  } else if (isStrip(stop) && (key === "Home" || key === "End")) {
    at = key === "Home" ? 0 : last;
    point(stop);
  } else if (step && isStrip(stop) && (Math.abs(step) > 1 || (at + step >= 0 && at + step <= last))) {
    at += step;
    point(stop);
  } else if (step) {
    const other = next(stop, true, Math.sign(step));
    if (other) go(other);
  } else if (isStrip(stop) && stop.dataset.group === "block" && (key === "Enter" || key === " ")) {
    chosen = at;
    trigger("select");
  } else return;
  event.preventDefault();
});

insideBert.picked[props.name] = () => chosen;
