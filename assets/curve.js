// The live training curve: keeps the points it was sent and draws two panels, the loss and the task's score, as SVG.
// Runs once when the component is mounted; gradio hands it `element`, `props` and `watch`.
const SVG = "http://www.w3.org/2000/svg";
const TALL = 290;
const STACKED = 250; // where the panels stand one above the other by choice, beside something else
const MARGIN = { left: 54, right: 14, top: 34, bottom: 44 };
const SMOOTHING = 0.85; // of the moving average over batches
const TITLES = [["Loss", "cross-entropy, lower is better"], ["Accuracy", "higher is better"]];
const kept = { run: null, steps: new Map(), looks: new Map(), last: {} };
const part = (name) => element.querySelector(`.curve-${name}`);

function node(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function take() {
  if (!props.value) return;
  const message = JSON.parse(props.value);
  if (message.run === "" && kept.last.done === false) return; // empty axes that came late: a run is on them
  if (message.run === "none" && kept.run !== null) {
    kept.last = { ...kept.last, done: true }; // nothing began, or it broke off: what was drawn before stays
    part("status").textContent = message.status;
    return;
  }
  if (message.run !== kept.run) {
    kept.run = message.run;
    kept.steps.clear();
    kept.looks.clear();
  }
  for (const point of message.steps) kept.steps.set(point[0], point);
  for (const point of message.looks) kept.looks.set(point[0], point);
  kept.last = message;
  part("status").textContent = message.status || "";
  if (message.summary !== undefined && part("said").textContent !== message.summary) part("said").textContent = message.summary;
  part("progress").value = message.total ? (message.step || 0) / message.total : 0;
  part("progress").classList.toggle("idle", !message.total);
  for (const [name, told] of Object.entries(message.legend || {})) {
    const key = element.querySelector(`.curve-key.${name}`);
    key.textContent = told;
    key.hidden = !told;
  }
  draw();
}

const exact2 = (value) => value.toFixed(2);
const percent = (value) => `${Math.round(value * 100)}%`;

function smooth(points) {
  let mean = 0;
  return points.map(([x, y], index) => {
    mean = SMOOTHING * mean + (1 - SMOOTHING) * y;
    return [x, mean / (1 - SMOOTHING ** (index + 1))];
  });
}

function ticks(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
}

function panel(box, [title, told], width, least, most, guess, train, validation, format, exact, below) {
  const height = kept.last.stacked ? STACKED : TALL;
  const svg = node(box, "svg", { width, height, role: "img", "aria-label": `${title}. ${told}` });
  const { total = 1, perEpoch = 1 } = kept.last;
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = (step) => MARGIN.left + ((right - MARGIN.left) * step) / Math.max(1, total);
  const y = (value) => bottom - ((bottom - MARGIN.top) * (Math.min(value, most) - least)) / (most - least);
  const heading = node(svg, "text", { x: MARGIN.left, y: 18, class: "curve-title" }, title);
  node(heading, "tspan", { dx: 10, class: "curve-told" }, told);
  for (const value of ticks(most - least, 4).map((above) => above + least)) {
    node(svg, "line", { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value), class: "curve-grid" });
    node(svg, "text", { x: MARGIN.left - 8, y: y(value) + 5, class: "curve-tick", "text-anchor": "end" }, format(value));
  }
  const epochs = kept.last.total ? Math.round(total / perEpoch) : 0;
  const every = Math.ceil(epochs / 10) || 1;
  for (let epoch = 0; epoch <= epochs; epoch += every) {
    const at = { x: x(Math.min(total, epoch * perEpoch)), y: bottom + 20, "text-anchor": "middle", class: "curve-tick" };
    node(svg, "text", at, String(epoch));
  }
  const middle = { x: (MARGIN.left + right) / 2, y: height - 4, "text-anchor": "middle", class: "curve-tick" };
  node(svg, "text", middle, epochs ? "epochs" : "epochs: press Start");
  const path = (points, name) => {
    if (points.length < 2) return;
    const d = points.map(([step, value], index) => `${index ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`);
    node(svg, "path", { d: d.join(""), class: `curve-line ${name}` });
  };
  if (guess !== null && guess !== undefined) {
    node(svg, "line", { x1: MARGIN.left, x2: right, y1: y(guess), y2: y(guess), class: "curve-line guess" });
    const at = { x: right, y: y(guess) - 6, "text-anchor": "end", class: "curve-tick" };
    node(svg, "text", at, `guessing ${exact(guess)}`);
  }
  path(train, "train raw");
  path(smooth(train), "train");
  path(validation, "validation");
  for (const [step, value, low, high] of validation) {
    if (low !== undefined) node(svg, "line", { x1: x(step), x2: x(step), y1: y(low), y2: y(high), class: "curve-range" });
    node(svg, "circle", { cx: x(step), cy: y(value), r: 4.5, class: "validation" });
  }
  const last = validation.at(-1);
  if (last) {
    const side = x(last[0]) > right - 50 ? { "text-anchor": "end", dx: -8 } : { dx: 8 };
    node(svg, "text", { x: x(last[0]), y: y(last[1]) + (below ? 22 : -9), class: "curve-value", ...side }, exact(last[1]));
  }
}

function draw() {
  const box = part("panels");
  const all = box.clientWidth;
  if (!all || !kept.last.status) return;
  const width = all >= 520 && !kept.last.stacked ? Math.floor((all - 16) / 2) : all;
  box.replaceChildren();
  const steps = [...kept.steps.values()].sort((a, b) => a[0] - b[0]);
  const looks = [...kept.looks.values()].sort((a, b) => a[0] - b[0]);
  const column = (rows, index) => rows.filter((row) => row[index] !== null).map((row) => [row[0], row[index], ...row.slice(4)]);
  const { guess, baseline, titles = TITLES, shares = true, most = 0.5 } = kept.last;
  const losses = column(steps, 1);
  const highest = Math.max(most, guess || 0, ...losses.map((point) => point[1]), ...looks.map((look) => look[2] ?? 0));
  const exact = (value) => value.toFixed(highest < 0.4 ? 3 : 2);
  panel(box, titles[0], width, 0, highest * 1.1, guess, losses, column(looks, 2).map((point) => point.slice(0, 2)),
    (value) => String(+value.toFixed(2)), exact, false); // its value above, where training's curve is below
  const scores = column(looks, 3);
  const least = Math.min(0, ...scores.map((point) => Math.floor(2 * (point[2] ?? 0)) / 2));
  panel(box, titles[1], width, least, 1, baseline, column(steps, 2), scores,
    shares ? percent : (value) => String(+value.toFixed(2)), shares ? percent : exact2, true);
}

new ResizeObserver(() => requestAnimationFrame(draw)).observe(element);
watch("value", take);
take();
