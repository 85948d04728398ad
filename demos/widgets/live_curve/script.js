// The live training curve: keeps the points it was sent and draws them as SVG: the loss and the task's score, small
// the learning rate and the gradient's length, and how the probabilities of a few watched examples move.
// Runs once when the component is mounted; gradio hands it `element`, `props` and `watch`.
const { drawn } = insideBert.page;
const { ASKING, asker, smooth } = insideBert.curves;
const TALL = 290;
const LOW = 206; // on a small projector
const STACKED = 250; // where the panels are one above the other by choice, beside something else
const SMALL = 104;
const SPARK = { width: 190, height: 40 };
const MARGIN = { left: 54, right: 14, top: 34, bottom: 44 };
const THIN = { left: 54, right: 14, top: 26, bottom: 10 };
const LETTER = 8; // about as wide as one at the ticks' size
const SMOOTHING = 0.85; // of the moving average over batches
const TITLES = [["Loss", "cross-entropy, lower is better"], ["Accuracy", "higher is better"]];
const kept = { run: null, steps: new Map(), looks: new Map(), watched: new Map(), last: {}, examples: [] };
const part = (name) => element.querySelector(`.curve-${name}`);

function plain(parent, name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const SHARED = 1000; // milliseconds between two questions for a run that a whole class watches
const AWAITING = 120; // milliseconds between two questions before the first step, which is waited for

function take(said = props.value) {
  if (!said) return;
  const message = JSON.parse(said);
  if (message.run === "" && kept.last.done === false) return; // empty axes that came late: a run is on them
  if (message.run === "none" && kept.run !== null) {
    kept.last = { ...kept.last, done: true }; // nothing began, or it broke off: what was drawn before stays
    part("status").textContent = message.status;
    return;
  }
  part("watch").hidden = !message.waiting || watches(message.run);
  if (message.waiting && watches(message.run) && message.shows === undefined) return; // its place comes with the curve
  if (message.run !== kept.run || message.shows !== kept.shows) {
    kept.run = message.run;
    kept.shows = message.shows; // the run whose points these are, where it is another one
    for (const points of [kept.steps, kept.looks, kept.watched]) points.clear();
    kept.examples = [];
    part("said").textContent = "";
    part("more").open = true;
    kept.last = {};
  }
  for (const point of message.steps) kept.steps.set(point[0], point);
  for (const point of message.looks) kept.looks.set(point[0], point);
  for (const point of message.watched || []) kept.watched.set(point[0], point);
  if (message.examples) kept.examples = message.examples;
  // On a phone the result is followed by what can be done with it: the rest of the curve becomes a fold.
  if (message.done && !kept.last.done && matchMedia("(max-width: 640px)").matches) part("more").open = false;
  kept.last = message;
  part("status").textContent = (message.data && !message.done ? `${message.data} · ` : "") + (message.status || "");
  if (message.summary !== undefined && part("said").textContent !== message.summary) part("said").textContent = message.summary;
  part("progress").setAttribute("value", message.total ? (message.step || 0) / message.total : 0);
  part("progress").classList.toggle("idle", !message.total);
  for (const [name, told] of Object.entries(message.legend || {})) {
    const key = element.querySelector(`.curve-key.${name}`);
    key.textContent = told;
    key.hidden = !told;
  }
  draw();
  if (message.done || !message.total || message.shared) return;
  if (props.in_rooms && !message.waiting) document.dispatchEvent(new CustomEvent("inside-bert-run", { detail: message.run }));
  ask();
}

// The run of this reader's room (demos/page/room), unless the reader's own run is under way
async function join() {
  const { run, curve } = window.insideBertRoom ?? {};
  if (!run || run === kept.run || kept.last.done === false) return;
  let seen = kept.run; // what is drawn: once something else is, this ends
  while (element.isConnected && kept.run === seen && !(seen === run && kept.last.done)) {
    const said = element.checkVisibility() ? await curve(seen === run ? sizes() : [0, 0]) : "";
    if (said && kept.run === seen) {
      take(said);
      seen = run;
    }
    await new Promise((resolve) => setTimeout(resolve, SHARED));
  }
}
if (props.in_rooms) document.addEventListener("inside-bert-room-run", join);

// Whether the reader who waits with this run has chosen to watch the current run.
const watches = (run) => kept.watch === run;
part("watch").addEventListener("click", () => {
  kept.watch = kept.run;
  part("watch").hidden = true;
  ask();
});

const pause = () => (kept.steps.size ? ASKING : AWAITING);
const sizes = () => [kept.steps.size, kept.looks.size, kept.watched.size];
const ask = asker(element, server, kept, () => (watches(kept.run) && kept.last.waiting ? [...sizes(), kept.shows || 0] : sizes()), take, pause);

const exact2 = (value) => value.toFixed(2);
const percent = (value) => `${Math.round(value * 100)}%`;
const few = (value) => (value && value <= 0.01 ? value.toExponential(1).replace(".0e", "e") : String(+value.toPrecision(2)));

function ticks(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
}

const path = (svg, points, x, y, name) => {
  if (points.length < 2) return;
  const d = points.map(([step, value], index) => `${index ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`);
  drawn(svg, "path", { d: d.join(""), class: `curve-line ${name}` });
};

function panel(box, [title, told], width, least, most, [beaten, guess], train, validation, format, exact, below) {
  const height = kept.last.stacked ? STACKED : innerHeight <= 850 ? LOW : TALL;
  const svg = drawn(box, "svg", { width, height, role: "img", "aria-label": `${title}. ${told}` });
  const { total = 1, perEpoch = 1 } = kept.last;
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = (step) => MARGIN.left + ((right - MARGIN.left) * step) / Math.max(1, total);
  const y = (value) => bottom - ((bottom - MARGIN.top) * (Math.min(value, most) - least)) / (most - least);
  const heading = drawn(svg, "text", { x: MARGIN.left, y: 18, class: "curve-title" }, title);
  if (width > 330) drawn(heading, "tspan", { dx: 10, class: "curve-told" }, told);
  for (const value of ticks(most - least, 4).map((above) => above + least)) {
    drawn(svg, "line", { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value), class: "curve-grid" });
    drawn(svg, "text", { x: MARGIN.left - 8, y: y(value) + 5, class: "curve-tick", "text-anchor": "end" }, format(value));
  }
  const epochs = kept.last.total ? Math.round(total / perEpoch) : 0;
  const every = Math.ceil(epochs / 10) || 1;
  for (let epoch = 0; epoch <= epochs; epoch += every) {
    const at = { x: x(Math.min(total, epoch * perEpoch)), y: bottom + 20, "text-anchor": "middle", class: "curve-tick" };
    drawn(svg, "text", at, String(epoch));
  }
  const middle = { x: (MARGIN.left + right) / 2, y: height - 4, "text-anchor": "middle", class: "curve-tick" };
  drawn(svg, "text", middle, epochs || kept.last.done === false ? "epochs" : "epochs: press Start");
  const last = validation.at(-1);
  const beside = below ? [22, -9] : [-9, 22];
  let [under, off] = [beside[0], -6]; // of the last value and of the dashed line's name: neither on the other
  if (guess !== null && guess !== undefined) {
    if (last && x(last[0]) > right - 230) {
      const apart = (at) => Math.abs(y(last[1]) + at[0] - y(guess) - at[1]) >= 18;
      [under, off] = beside.flatMap((here) => [[here, -6], [here, 17]]).find(apart) || [under, off];
    }
    drawn(svg, "line", { x1: MARGIN.left, x2: right, y1: y(guess), y2: y(guess), class: "curve-line guess" });
    const at = { x: right, y: y(guess) + off, "text-anchor": "end", class: "curve-tick" };
    const name = beaten.length * LETTER < right - MARGIN.left - 60 ? beaten : "baseline"; // the legend has it in full
    drawn(svg, "text", at, `${name} ${exact(guess)}`);
  }
  path(svg, train, x, y, "train raw");
  path(svg, smooth(train, SMOOTHING), x, y, "train");
  path(svg, validation, x, y, "validation");
  for (const [step, value, low, high] of validation) {
    if (low !== undefined) drawn(svg, "line", { x1: x(step), x2: x(step), y1: y(low), y2: y(high), class: "curve-range" });
    drawn(svg, "circle", { cx: x(step), cy: y(value), r: 4.5, class: "validation" });
  }
  if (last) {
    const side = x(last[0]) > right - 50 ? { "text-anchor": "end", dx: -8 } : { dx: 8 };
    drawn(svg, "text", { x: x(last[0]), y: y(last[1]) + under, class: "curve-value", ...side }, exact(last[1]));
  }
}

// One line over the steps, its last value in words.
function thin(box, title, width, points, limit) {
  const most = Math.max(...points.map((point) => point[1]), limit || 0) * 1.05 || 1;
  const last = points.at(-1);
  const told = last ? few(last[1]) : "";
  const svg = drawn(box, "svg", { width, height: SMALL, role: "img", "aria-label": `${title} by step: now ${told}` });
  const right = width - THIN.right;
  const bottom = SMALL - THIN.bottom;
  const x = (step) => THIN.left + ((right - THIN.left) * step) / Math.max(1, kept.last.total || 1);
  const y = (value) => bottom - ((bottom - THIN.top) * value) / most;
  const heading = drawn(svg, "text", { x: THIN.left, y: 17, class: "curve-thin" }, title);
  drawn(heading, "tspan", { dx: 8, class: "curve-now" }, told);
  for (const value of [0, limit || Math.max(0, ...points.map((point) => point[1]))]) {
    drawn(svg, "line", { x1: THIN.left, x2: right, y1: y(value), y2: y(value), class: value && limit ? "curve-line guess" : "curve-grid" });
    if (value || !points.length) drawn(svg, "text", { x: THIN.left - 8, y: y(value) + 5, class: "curve-tick", "text-anchor": "end" }, few(value));
  }
  path(svg, points, x, y, "train");
}

// Each watched example: its words, how its probabilities moved, and the likeliest now.
function watchedRows(box) {
  box.replaceChildren();
  const looks = [...kept.watched.values()].sort((a, b) => a[0] - b[0]);
  if (!looks.length || !kept.examples.length) return;
  const { series = [], total = 1 } = kept.last;
  const shown = series.length === 1 ? `how many ${series[0]}` : "probability of each answer";
  plain(box, "p", "watched-title", `Examples that are not used for training: ${shown}, check by check`);
  const list = plain(box, "ul", "watched-list");
  const { width, height } = SPARK;
  kept.examples.forEach(([text, truth], row) => {
    const item = plain(list, "li", "watched-row");
    plain(item, "span", "watched-text", text).title = text;
    const now = looks.at(-1)[1][row];
    const best = now.indexOf(Math.max(...now));
    const svg = drawn(item, "svg", { viewBox: `0 0 ${width} ${height}`, class: "watched-spark", "aria-hidden": "true" });
    drawn(svg, "line", { x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "curve-grid" });
    now.forEach((_, which) => {
      const at = ([step, rows]) => `${((width * step) / Math.max(1, total)).toFixed(1)},${(height - 2 - (height - 5) * rows[row][which]).toFixed(1)}`;
      const line = drawn(svg, "polyline", { points: looks.map(at).join(" "), class: which === truth ? "truth" : "" });
      line.style.setProperty("--hue", `var(--class-${which % 8})`);
      const [cx, cy] = at(looks.at(-1)).split(",");
      if (which === truth) drawn(svg, "circle", { cx, cy, r: 4 }).style.setProperty("--hue", `var(--class-${which % 8})`);
    });
    if (now.length === 1) { // a share of something, and no answer to choose
      plain(item, "span", "watched-said", "").append(plain(item, "b", "watched-share", percent(now[0])));
      return;
    }
    const right = best === truth;
    const said = plain(item, "span", `watched-said ${right ? "right" : "wrong"}`);
    const name = plain(said, "b", "watched-name", `${right ? "✓" : "✗"} ${series[best] ?? ""} ${percent(now[best])}`);
    name.style.setProperty("--hue", `var(--class-${best % 8})`);
    if (!right) plain(said, "span", "watched-truth", `${series[truth] ?? ""} ${percent(now[truth])}`);
  });
}

function draw() {
  const box = part("panels");
  const all = box.clientWidth;
  if (!all || !kept.last.status) return;
  const beside = all >= 520 && !kept.last.stacked;
  const width = beside ? Math.floor((all - 16) / 2) : all;
  const small = part("small");
  for (const row of [box, small]) row.style.flexWrap = beside ? "nowrap" : "wrap"; // also where a scroll bar came just now
  box.replaceChildren();
  const steps = [...kept.steps.values()].sort((a, b) => a[0] - b[0]);
  const looks = [...kept.looks.values()].sort((a, b) => a[0] - b[0]);
  const column = (rows, index) => rows.filter((row) => (row[index] ?? null) !== null).map((row) => [row[0], row[index], ...row.slice(4)]);
  const { guess, baseline, guessed = "guessing", beaten = "", titles = TITLES, shares = true, most = 0.5 } = kept.last;
  const losses = column(steps, 1);
  const highest = Math.max(most, guess || 0, ...losses.map((point) => point[1]), ...looks.map((look) => look[2] ?? 0));
  const exact = (value) => value.toFixed(highest < 0.4 ? 3 : 2);
  panel(box, titles[0], width, 0, highest * 1.1, [guessed, guess], losses, column(looks, 2).map((point) => point.slice(0, 2)),
    (value) => String(+value.toFixed(2)), exact, false); // its value above, where training's curve is below
  const scores = column(looks, 3);
  const least = Math.min(0, ...scores.map((point) => Math.floor(2 * (point[2] ?? 0)) / 2));
  panel(box, titles[1], width, least, 1, [beaten, baseline], column(steps, 2), scores,
    shares ? percent : (value) => String(+value.toFixed(2)), shares ? percent : exact2, true);
  small.replaceChildren();
  if (kept.last.clip && steps.length) {
    thin(small, "Learning rate", width, column(steps, 3));
    thin(small, "Gradient’s length", width, column(steps, 4), kept.last.clip);
  }
  if (kept.last.watched?.length || !kept.watched.size) watchedRows(part("watched"));
}

new ResizeObserver(() => requestAnimationFrame(draw)).observe(element);
watch("value", () => take());
take();
if (props.in_rooms) join();
