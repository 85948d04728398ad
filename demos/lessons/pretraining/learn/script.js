// Live pre-training: the masked words' loss by step, from pre-trained and from random weights, with the line of blind
// guessing. Keeps the points it was sent, and while a run is drawn requests newer ones.
const { drawn } = insideBert.page;
const { asker, smooth } = insideBert.curves;
const MARGIN = { left: 54, right: 168, top: 30, bottom: 46 };
const NARROW = 560; // no room for names beside the lines
const SMOOTHING = 0.8;
const kept = { run: null, points: new Map(), last: { done: true } };
const part = (name) => element.querySelector(`.learn-${name}`);

function take(said = props.value) {
  if (!said) return;
  const message = JSON.parse(said);
  if (message.fresh || message.run !== kept.run) kept.points.clear();
  kept.run = message.run;
  for (const point of message.points) kept.points.set(point[0], point);
  kept.last = message;
  part("status").textContent = message.status;
  if (message.said !== undefined) part("said").textContent = message.said;
  draw();
  if (!message.done) ask();
}

const ask = asker(element, server, kept, () => [Math.max(0, ...kept.points.keys())], take);

function step(most) {
  const rough = most / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough));
}

function draw() {
  const box = part("panel");
  const width = box.clientWidth;
  if (!width || !kept.last.guess) return;
  const { total, guess } = kept.last;
  const height = Math.max(290, Math.min(420, innerHeight * 0.38));
  const narrow = width < NARROW;
  const right = width - (narrow ? 14 : MARGIN.right);
  const bottom = height - MARGIN.bottom;
  const points = [...kept.points.values()].sort((a, b) => a[0] - b[0]);
  const lineOf = (column) => points.filter((point) => point[column] !== null).map((point) => [point[0], point[column]]);
  const series = [
    { name: "trained", said: "pre-trained", line: lineOf(1) },
    { name: "random", said: "from random weights", line: lineOf(2) },
  ];
  const highest = Math.max(guess, ...series.flatMap(({ line }) => line.map((point) => point[1]))) * 1.08;
  const x = (at) => MARGIN.left + ((right - MARGIN.left) * (at - 1)) / Math.max(1, total - 1);
  const y = (value) => bottom - ((bottom - MARGIN.top) * value) / highest;
  const told = series.filter(({ line }) => line.length).map(({ said, line }) => `${said} ${line.at(-1)[1].toFixed(2)}`).join(", ");
  const label = `Masked words’ loss by step; now ${told || "no step yet"}; equal probabilities for all words ${guess.toFixed(2)}`;
  const svg = drawn(null, "svg", { width, height, role: "img", "aria-label": label });
  drawn(svg, "text", { x: MARGIN.left, y: 17, class: "learn-title" }, narrow ? "Loss of the masked words" : "Loss of the masked words, batch by batch");
  for (let value = 0; value < highest; value += 2) {
    drawn(svg, "line", { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value), class: "learn-grid" });
    drawn(svg, "text", { x: MARGIN.left - 8, y: y(value) + 5, class: "learn-tick", "text-anchor": "end" }, String(value));
  }
  const every = step(total);
  for (let at = 1; at <= total; at = at === 1 ? Math.max(2, every) : at + every) {
    drawn(svg, "text", { x: x(at), y: bottom + 21, class: "learn-tick", "text-anchor": "middle" }, String(at));
  }
  drawn(svg, "text", { x: (MARGIN.left + right) / 2, y: height - 4, class: "learn-tick", "text-anchor": "middle" }, "step");
  drawn(svg, "line", { x1: MARGIN.left, x2: right, y1: y(guess), y2: y(guess), class: "learn-line guess" });
  const beside = narrow ? { x: right, y: y(guess) - 6, "text-anchor": "end" } : { x: right + 8, y: y(guess) + 5 };
  drawn(svg, "text", { ...beside, class: "learn-tick" }, narrow ? `blind guessing ${guess.toFixed(2)}` : `ln V = ${guess.toFixed(2)}`);
  const ends = [];
  for (const { name, said, line } of series) {
    if (!line.length) continue;
    const smoothed = smooth(line, SMOOTHING);
    for (const shown of [line, smoothed]) {
      const d = shown.map(([at, value], index) => `${index ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
      if (shown.length > 1) drawn(svg, "path", { d, class: `learn-line ${name} ${shown === line ? "raw" : ""}` });
    }
    const [at, value] = line.length > 1 ? smoothed.at(-1) : line[0];
    drawn(svg, "circle", { cx: x(at), cy: y(value), r: 5, class: `learn-dot ${name}` });
    ends.push({ name, said, value, at, place: y(value) });
  }
  ends.sort((a, b) => a.place - b.place);
  ends.forEach((end, index) => { if (index) end.place = Math.max(end.place, ends[index - 1].place + 44); });
  for (const { name, said, value, at, place } of ends) {
    const far = narrow && x(at) > right - 150;
    const left = x(at) + (far ? -10 : 10);
    const anchor = far ? "end" : "start";
    const high = Math.min(place, bottom - 16) + (Math.abs(place - y(guess)) < 22 ? 26 : 0); // off the dashed line
    drawn(svg, "text", { x: left, y: high, class: `learn-value ${name}`, "text-anchor": anchor }, value.toFixed(2));
    drawn(svg, "text", { x: left, y: high + 18, class: `learn-name ${name}`, "text-anchor": anchor }, said);
  }
  box.replaceChildren(svg);
}

new ResizeObserver(() => requestAnimationFrame(draw)).observe(element);
watch("value", () => take());
take();
