// The overview of heads: small pictures on one canvas under a grid of buttons, or a map of one pattern's scores.
// Runs once when the component is mounted, as its js_on_load; gradio hands it `element`, `props`, `trigger` and `watch`.
const { legible, paint, ramp } = insideBert.cells;
const GAP = 2;
const HEADER = 36; // pixels of the layers' numbers, as in grid.css
const CELL = { least: 21, most: 60, tall: 760 }; // pixels; a grid of many layers still fits a screen
const BEST = 3; // heads named under the map
const NAMED = 12; // switched-off heads named in the line
const name = props.name;
const switching = props.mode === "switch";
const part = (what) => element.querySelector(`.head-grid-${what}`);
const field = part("field");
const canvas = element.querySelector("canvas");
const state = { data: null, bytes: null, habits: null, look: {}, at: [0, 0], chosen: null, off: new Set(), shape: "" };
let cells = []; // [layer][head] -> button

function make(parent, tag, attributes = {}, text) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// ---- look-ups in the numbers
const index = (layer, head) => layer * state.data.num_heads + head;
const fitting = (found) => found?.model === state.data.model && found.measure === state.data.measure;
const habits = () => (fitting(state.habits) ? state.habits : null); // another model's or measure's say nothing here
const byNorm = () => state.data.measure === "contribution";
const source = () => (state.look.source === "habit" ? habits() : state.data);
const pattern = () => state.data.patterns.find(([key]) => key === state.look.pattern);
const shortened = (score) => (score === null ? "–" : score.toFixed(2));
const headName = (layer, head) => `layer ${layer + 1}, head ${head + 1}`; // as the page counts
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const isOff = (layer, head) => state.off.has(`${layer},${head}`);

function ranked(key) {
  const scores = source()?.scores[key] ?? [];
  return scores
    .map((score, place) => ({ score, layer: Math.floor(place / state.data.num_heads), head: place % state.data.num_heads }))
    .filter((one) => one.score !== null)
    .sort((a, b) => b.score - a.score);
}

function told(layer, head) {
  const { data } = state;
  const at = index(layer, head);
  const from = source() ?? data;
  const scores = data.patterns.map(([key, title]) => `${title} ${shortened(from.scores[key][at])}`).join(", ");
  const [weight, query, key] = data.strongest[at];
  const nats = from === data ? ` (${data.entropy[at].toFixed(1)} nats)` : "";
  const over = from === data ? "" : ` on average over ${from.sentences} sentences`;
  const ends = byNorm() ? `of “${data.tokens[key]}” for “${data.tokens[query]}”` : `from “${data.tokens[query]}” to “${data.tokens[key]}”`;
  return [
    `${capital(headName(layer, head))}${isOff(layer, head) ? ", switched off" : ""}${over}: `,
    `${scores}${nats}; ${byNorm() ? "largest norm" : "strongest"} here ${weight.toFixed(2)}, ${ends}.`,
  ];
}

function say(layer, head) {
  const [who, what] = told(layer, head);
  part("said").replaceChildren();
  make(part("said"), "b", {}, who);
  part("said").append(what);
}

// ---- the grid's frame: one button per head, rebuilt only when a model has other layers or heads
function build() {
  const { num_layers: layers, num_heads: heads, colours } = state.data;
  const shape = `${layers}x${heads}`;
  if (shape === state.shape) return;
  state.shape = shape;
  field.replaceChildren(canvas);
  const top = make(field, "div", { role: "row", class: "head-grid-row" });
  make(top, "span", { role: "columnheader", class: "head-grid-corner", "aria-label": "Rows are layers, columns are heads" }, "L \\ A");
  for (let head = 0; head < heads; head++) {
    const column = make(top, "span", { role: "columnheader", class: "head-grid-head", "aria-label": `Head ${head + 1}` }, String(head + 1));
    column.style.setProperty("--head", colours[head % colours.length]);
  }
  cells = Array.from({ length: layers }, (_, layer) => {
    const row = make(field, "div", { role: "row", class: "head-grid-row" });
    make(row, "span", { role: "rowheader", class: "head-grid-layer", "aria-label": `Layer ${layer + 1}` }, String(layer + 1));
    return Array.from({ length: heads }, (_, head) => {
      const cell = make(row, "span", { role: "gridcell" });
      return make(cell, "button", { type: "button", tabindex: "-1", "data-layer": layer, "data-head": head });
    });
  });
  state.at = [Math.min(state.at[0], layers - 1), Math.min(state.at[1], heads - 1)];
  cells[state.at[0]][state.at[1]].tabIndex = 0;
}

function measure() {
  const { num_layers: layers, num_heads: heads } = state.data;
  const room = part("scroll").clientWidth - HEADER;
  if (room <= 0) return 0;
  const most = Math.min(CELL.most, Math.floor(CELL.tall / layers)) - GAP;
  const cell = Math.max(CELL.least, Math.min(most, Math.floor(room / heads) - GAP));
  field.style.setProperty("--cell", `${cell}px`);
  field.style.setProperty("--heads", heads);
  element.dataset.cell = String(cell);
  return cell;
}

// ---- the two looks
function draw() {
  if (!state.data) return;
  build();
  const cell = measure();
  if (!cell) return; // in a tab that is not open; drawn when it has a size
  const { data, look } = state;
  const shown = pattern();
  const map = Boolean(shown && source());
  const scores = map ? source().scores[shown[0]] : null;
  const best = map ? ranked(shown[0])[0] : null;
  const most = best?.score || 1;
  const colours = ramp("magnitude", 256);
  field.dataset.look = map ? "map" : "pictures";
  canvas.hidden = map;
  if (!map) paint(canvas, data, state.bytes, colours, cell, GAP);
  const text = cell >= 35 ? shortened : (score) => (cell >= 25 && score !== null ? score.toFixed(2).replace(/^0/, "") : "");
  cells.forEach((row, layer) =>
    row.forEach((button, head) => {
      const score = scores?.[index(layer, head)];
      const colour = map ? colours[score === null ? 0 : Math.round((255 * Math.max(0, score)) / most)] : null;
      button.style.background = colour ? `rgb(${colour})` : "";
      button.style.color = colour ? legible(colour) : "";
      button.textContent = map ? text(score) : "";
      const off = isOff(layer, head);
      const said = map ? `, ${shown[1]} ${shortened(score)}` : "";
      button.setAttribute("aria-label", `${capital(headName(layer, head))}${said}${off && switching ? ", switched off" : ""}`);
      if (switching) button.setAttribute("aria-pressed", String(off));
      const picked = !switching && layer === look.layer && head === look.head;
      button.classList.toggle("off", off);
      button.classList.toggle("picked", picked);
      if (picked) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.classList.toggle("best", Boolean(best) && layer === best.layer && head === best.head);
    }),
  );
  find(shown, map);
  rest();
  element.dataset.drawn = `${data.key} ${map ? shown[0] : "pictures"} ${map ? look.source || "sentence" : ""}`.trim();
}

function find(shown, map) {
  part("best").replaceChildren();
  if (!map) {
    const { side, tokens } = state.data;
    const what = byNorm() ? "norm" : "weight";
    part("told").textContent =
      "Each small picture is a head. Rows are the tokens that attend, columns the tokens they attend to. The stronger a " +
      `cell's color, the closer its ${what} is to the largest in that head${tokens.length > side ? `. With ${tokens.length} tokens, each dot is the largest ${what} in its block of cells` : ""}.`;
    return;
  }
  const [key, title, definition, missing] = shown;
  const from = source();
  const over = from === state.data ? "" : ` Mean over the ${from.counted[key]} of ${from.sentences} sentences in which it can occur.`;
  const even = from.even[key];
  const yardstick = even === null ? "" : ` Equal ${byNorm() ? "shares of" : "weights on"} all tokens would give ${even.toFixed(2)}.`;
  part("told").replaceChildren();
  make(part("told"), "b", {}, `${capital(title)}. `);
  const instead = byNorm() ? " Here, a weight is replaced by the contribution's share of the sum of norms in its row." : "";
  part("told").append(even === null ? `No score: ${missing}.` : `${definition}${instead}${yardstick}${over}`);
  for (const { score, layer, head } of ranked(key).slice(0, BEST)) {
    const button = make(make(part("best"), "li"), "button", { type: "button" }, headName(layer, head));
    make(button, "b", {}, ` ${shortened(score)}`);
    button.addEventListener("click", () => choose(layer, head));
  }
}

// The line's text while no head is pointed at.
function rest() {
  const { look, data } = state;
  if (!switching && look.layer < data.num_layers && look.head < data.num_heads) return say(look.layer, look.head);
  const off = switching ? api.chosen().off : [];
  const named = off.slice(0, NAMED).map(([layer, head]) => headName(layer, head)).join("; ");
  const more = off.length > NAMED ? ` and ${off.length - NAMED} more` : "";
  part("said").textContent = !switching ? "" : named ? `Switched off: ${named}${more}.` : "No head is switched off.";
}

// ---- hands on it
function choose(layer, head) {
  if (switching) {
    const key = `${layer},${head}`;
    if (!state.off.delete(key)) state.off.add(key);
    draw();
  } else {
    state.chosen = { layer, head };
    show({ layer, head }); // at once; the sliders follow and say the same
  }
  trigger("select");
}

function roam(layer, head) {
  const [row, column] = state.at;
  cells[row][column].tabIndex = -1;
  state.at = [layer, head];
  cells[layer][head].tabIndex = 0;
}

const cellOf = (event) => {
  const button = event.target.closest?.("button[data-layer]");
  return button ? [Number(button.dataset.layer), Number(button.dataset.head)] : null;
};

field.addEventListener("click", (event) => {
  const at = cellOf(event);
  if (!at) return;
  roam(...at);
  choose(...at);
});
field.addEventListener("pointerover", (event) => {
  const at = cellOf(event);
  if (at) say(...at);
});
field.addEventListener("pointerleave", () => state.data && rest());
field.addEventListener("focusin", (event) => {
  const at = cellOf(event);
  if (!at) return;
  roam(...at);
  say(...at);
});
field.addEventListener("focusout", () => state.data && rest());
field.addEventListener("keydown", (event) => {
  const at = cellOf(event);
  if (!at) return;
  const { num_layers: layers, num_heads: heads } = state.data;
  const to = {
    ArrowLeft: [at[0], at[1] - 1],
    ArrowRight: [at[0], at[1] + 1],
    ArrowUp: [at[0] - 1, at[1]],
    ArrowDown: [at[0] + 1, at[1]],
    Home: [at[0], 0],
    End: [at[0], heads - 1],
    PageUp: [0, at[1]],
    PageDown: [layers - 1, at[1]],
  }[event.key];
  if (!to) return;
  event.preventDefault();
  cells[Math.min(layers - 1, Math.max(0, to[0]))][Math.min(heads - 1, Math.max(0, to[1]))].focus();
});

// ---- what comes from the page; a list of heads may come from the link, so it may be anything
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

function show(look) {
  state.look = { ...state.look, ...look };
  if (look.off !== undefined) {
    const list = typeof look.off === "string" ? parsed(look.off) : look.off;
    state.off = new Set((Array.isArray(list) ? list : []).map((one) => `${one?.[0]},${one?.[1]}`));
  }
  if (look.habits !== undefined) state.habits = look.habits ? JSON.parse(look.habits) : null;
  draw();
}

function take() {
  if (!props.value) return;
  state.data = JSON.parse(props.value);
  state.bytes = Uint8Array.from(atob(state.data.pictures), (character) => character.charCodeAt(0));
  draw();
}

const api = {
  chosen: () =>
    switching
      ? { off: [...state.off].map((one) => one.split(",").map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]) }
      : state.chosen && { ...state.chosen },
  // all heads of a layer, which counts from 0, are off too; none of no layer, which a menu that is left says
  strike: (layer) => {
    const count = Number.isInteger(layer) ? state.data?.num_heads ?? 0 : 0;
    for (let head = 0; head < count; head++) state.off.add(`${layer},${head}`);
    return api.chosen();
  },
  fill: (values, at) =>
    state.chosen ? values.map((value, place) => (place === at ? state.chosen.layer + 1 : place === at + 1 ? state.chosen.head + 1 : value)) : values,
  // these values with the best head of the pattern that is the one at `which`
  aim: (values, at, which) => {
    const first = state.data && ranked(values[which])[0];
    state.chosen = first ? { layer: first.layer, head: first.head } : { layer: values[at] - 1, head: values[at + 1] - 1 };
    return api.fill(values, at);
  },
  best: (key) => {
    const first = state.data && ranked(key)[0];
    return first ? { layer: first.layer, head: first.head } : null;
  },
  show,
};
insideBert.grids[name] = api;
show({ ...JSON.parse(props.look), ...insideBert.grids.looks[name] });

let dark = document.body.classList.contains("dark");
new MutationObserver(() => {
  if (dark === document.body.classList.contains("dark")) return;
  dark = !dark;
  draw();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
let width = 0;
new ResizeObserver(() => {
  if (width === part("scroll").clientWidth) return;
  width = part("scroll").clientWidth;
  requestAnimationFrame(draw);
}).observe(part("scroll"));
watch("value", take);
take();
