// A room's record as a page and as a table, and a question's shift from one vote to the next. Texts are a class's own: they
// enter the page as text, and the table in cells that no spreadsheet takes for a formula.
import { fill, made, part, word } from "./parts.js";

const { drawn } = insideBert.page;
const FORMULA = /^\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // OWASP, "CSV Injection": what such a cell begins with
const COLUMNS = "kind number text label correct first second moved_to moved_from step loss score".split(" ");
const KIND = "text/html";

const sum = (counts) => counts.reduce((total, count) => total + count, 0);

// A text in two lines of at most `most` letters, the second cut short
function lined(text, most) {
  const letters = [...text];
  if (letters.length <= most) return [text];
  const space = letters.lastIndexOf(" ", most);
  const first = space > most / 3 ? space : most;
  const rest = letters.slice(first).join("").trim();
  return [letters.slice(0, first).join(""), [...rest].length > most ? `${[...rest].slice(0, most - 1).join("")}…` : rest];
}

// The number of those who voted twice, and of them: moved to a correct answer, away from all, correct both times, changed
export function moved({ moves, right }) {
  const counts = { both: 0, to: 0, from: 0, stayed: 0, changed: 0 };
  moves.forEach((row, first) =>
    row.forEach((count, second) => {
      const [before, after] = [right.includes(first), right.includes(second)];
      counts.both += count;
      if (!before && after) counts.to += count;
      if (before && !after) counts.from += count;
      if (before && after) counts.stayed += count;
      if (first !== second) counts.changed += count;
    }),
  );
  return counts;
}

// -> the sentence on those who voted twice; nothing where nobody did
export async function movedText(vote) {
  const counts = moved(vote);
  if (!counts.both) return "";
  const said = await part(vote.right.length ? "room-moved" : "room-changed");
  fill(said, counts);
  return said;
}

const [WIDE, LEFT, RIGHT, BAR, GAP, LINE, TALL, LETTERS] = [960, 366, 582, 12, 12, 20, 240, 36];

// Both votes' answers as bars, and between them bands for those who moved, as wide as their number. Without `moves` (two
// separate votes) a line joins each answer's bars.
export function shift({ answers, right, before, after, moves = null, names = ["first", "second"] }) {
  const lines = answers.map((answer) => lined(answer, LETTERS));
  const lowest = LINE * Math.max(...lines.map((two) => two.length));
  const unit = TALL / Math.max(1, sum(before), sum(after));
  const columns = [before, after].map((counts) => {
    let y = 28;
    return counts.map((count) => {
      const at = { y, height: count * unit, used: 0 };
      y += Math.max(lowest, at.height) + GAP;
      return at;
    });
  });
  const height = Math.max(...columns.map((column) => column.at(-1).y + Math.max(lowest, column.at(-1).height))) + 4;
  const named = answers.map((answer, place) => `${answer}: ${before[place]}, ${after[place]}`).join("; ");
  const label = `${names.map(word).join(", ")}. ${named}`;
  const svg = drawn(null, "svg", { viewBox: `0 0 ${WIDE} ${height}`, class: "shift", role: "img", "aria-label": label });
  const [from, to] = [LEFT + BAR, RIGHT];
  const middle = (from + to) / 2;
  answers.forEach((_, first) => {
    if (!moves) {
      const [y1, y2] = columns.map((column) => column[first].y + column[first].height / 2);
      drawn(svg, "line", { x1: from, x2: to, y1, y2, class: right.includes(first) ? "to right" : "to" });
    }
    (moves?.[first] ?? []).forEach((count, second) => {
      if (!count) return;
      const wide = count * unit;
      const [a, b] = [columns[0][first], columns[1][second]].map((at) => at.y + (at.used += wide) - wide);
      const d = `M${from} ${a}C${middle} ${a} ${middle} ${b} ${to} ${b}v${wide}C${middle} ${b + wide} ${middle} ${a + wide} ${from} ${a + wide}Z`;
      const band = drawn(svg, "path", { d, class: right.includes(second) ? `right ${right.includes(first) ? "stayed" : "moved"}` : "" });
      band.setAttribute("data-count", count);
    });
  });
  [before, after].forEach((counts, side) => {
    const [x, number, name, anchor] = side ? [RIGHT, RIGHT + BAR + 8, RIGHT + BAR + 46, "start"] : [LEFT, LEFT - 8, LEFT - 46, "end"];
    drawn(svg, "text", { x: number, y: 16, "text-anchor": anchor, class: "shift-title" }, word(names[side]));
    counts.forEach((count, place) => {
      const { y, height: tall } = columns[side][place];
      const marked = right.includes(place) ? "right" : "";
      drawn(svg, "rect", { x, y, width: BAR, height: Math.max(1, tall), class: marked });
      const middle = y + Math.max(lowest, tall) / 2 + 5;
      drawn(svg, "text", { x: number, y: middle, "text-anchor": anchor, class: "count" }, String(count));
      const top = middle - (LINE * (lines[place].length - 1)) / 2;
      lines[place].forEach((line, at) => drawn(svg, "text", { x: name, y: top + LINE * at, "text-anchor": anchor, class: marked }, line));
    });
  });
  return svg;
}

function rowOf(cells, name = "td") {
  const row = document.createElement("tr");
  for (const cell of cells) {
    const one = made(name, "", String(cell));
    one.dir = "auto";
    row.append(one);
  }
  return row;
}

const asked = (votes) => Object.values(votes).filter(({ tallies }) => sum(tallies.flat()));
const isSame = (one, other) => JSON.stringify([one.question, one.answers]) === JSON.stringify([other.question, other.answers]);

async function voteOf(vote, earlier) {
  const box = await part("room-report-vote");
  const { question, answers, tallies, right, moves } = vote;
  fill(box, { question });
  const rows = answers.map((answer, place) => {
    const row = rowOf([answer, ...tallies.map((counts) => counts[place]), right.includes(place) ? word("right") : ""]);
    row.className = right.includes(place) ? "right" : "";
    return row;
  });
  if (tallies.length < 2) box.querySelector("[data-second]").remove();
  box.querySelector("tbody").append(...rows);
  const [before, after] = tallies;
  if (after) box.append(await movedText(vote), shift({ answers, right, before, after, moves }));
  const last = earlier.findLast((other) => isSame(other, vote));
  if (last) {
    const marked = right.length ? right : last.right;
    const bars = shift({ answers, right: marked, before: last.tallies.at(-1), after: before, names: ["earlier", "later"] });
    box.append(await part("room-report-again"), bars);
  }
  return box;
}

const [CHART, LOW, EDGE] = [360, 200, 44];

// Points [x, y] of the training batches and of the checks, in one panel
function chart([title, told], train, checks) {
  const points = [...train, ...checks];
  const last = Math.max(1, ...points.map(([x]) => x));
  const most = Math.max(0, ...points.map(([, y]) => y)) || 1;
  const least = Math.min(0, ...points.map(([, y]) => y));
  const x = (step) => EDGE + ((CHART - EDGE - 10) * step) / last;
  const y = (value) => LOW - 24 - ((LOW - 54) * (value - least)) / (most - least);
  const svg = drawn(null, "svg", { viewBox: `0 0 ${CHART} ${LOW}`, class: "chart", role: "img", "aria-label": `${title}. ${told}` });
  drawn(svg, "text", { x: EDGE, y: 16, class: "shift-title" }, title);
  for (const value of [least, most]) {
    drawn(svg, "line", { x1: EDGE, x2: CHART - 10, y1: y(value), y2: y(value), class: "axis" });
    drawn(svg, "text", { x: EDGE - 6, y: y(value) + 5, "text-anchor": "end" }, String(+value.toFixed(2)));
  }
  drawn(svg, "text", { x: CHART - 10, y: LOW - 6, "text-anchor": "end" }, `${last} ${word("steps")}`);
  for (const [name, line] of [["train", train], ["checks", checks]]) {
    drawn(svg, "polyline", { points: line.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: name });
  }
  for (const [at, value] of checks) drawn(svg, "circle", { cx: x(at), cy: y(value), r: 3 });
  return svg;
}

const column = (rows, place) => rows.filter((row) => Number.isFinite(row[place])).map((row) => [row[0], row[place]]);

async function runOf({ steps, looks, titles, status }) {
  const box = await part("room-report-run");
  fill(box, { status });
  const charts = titles.map((title, place) => chart(title, column(steps, 1 + place), column(looks, 2 + place)));
  box.querySelector("div").append(...charts);
  return box;
}

// The record as one file of HTML that needs nothing else and runs no script
export async function page({ code, votes, picked, runs, data }) {
  const file = document.implementation.createHTMLDocument(`Inside BERT: ${word("room")} ${code}`);
  file.documentElement.lang = document.documentElement.lang;
  file.head.prepend(await part("room-report-head"));
  const body = await part("room-report");
  fill(body, { code, date: new Date().toLocaleDateString("en", { dateStyle: "long" }) });
  const section = (name) => body.querySelector(`[data-section="${name}"]`);
  const put = (name, parts) => (parts.length ? section(name).append(...parts) : section(name).remove());
  const all = asked(votes);
  put("votes", await Promise.all(all.map((vote, place) => voteOf(vote, all.slice(0, place)))));
  put("runs", await Promise.all(Object.values(runs).map(runOf)));
  section("picked").querySelector("ol").append(...picked.map((sentence) => Object.assign(made("li", "", sentence), { dir: "auto" })));
  if (!picked.length) section("picked").remove();
  if (data?.rows.length) {
    fill(section("data"), { counts: data.classes.map((name, place) => `${name}: ${data.counts[place]}`).join(" · "), agreement: agreementOf(data) });
    section("data").querySelector("tbody").append(...data.rows.map(({ text, label }) => rowOf([text, label])));
  } else section("data").remove();
  file.body.append(body);
  return new File([`<!doctype html>\n${file.documentElement.outerHTML}\n`], `room-${code}.html`, { type: KIND });
}

// The agreement of the labels, in words
export const agreementOf = ({ agreement, several }) =>
  agreement === null ? word("no-agreement") : `${Math.round(100 * agreement)}% ${word("agreement")} ${several}.`;

// A cell of the table (RFC 4180), always in quotes. A text that a spreadsheet would compute gets an apostrophe before it.
export function cell(value = "") {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value ?? "");
  return `"${text.replaceAll('"', '""')}"`;
}

// The same as a table: one row for each answer of a question, sentence, example of the data set, and point of a curve
export function table({ code, votes, picked, runs, data }) {
  const rows = [];
  asked(votes).forEach(({ question, answers, tallies, right, moves }, number) =>
    answers.forEach((label, place) => {
      const [first, second] = tallies.map((counts) => counts[place]);
      const correct = right.length ? (right.includes(place) ? "yes" : "no") : "";
      const to = sum(moves.map((row, from) => (from === place ? 0 : row[place])));
      const from = sum(moves[place].filter((_, to) => to !== place));
      const between = tallies.length > 1 ? { moved_to: to, moved_from: from } : {};
      rows.push({ kind: "answer", number: number + 1, text: question, label, correct, first, second, ...between });
    }),
  );
  picked.forEach((text, number) => rows.push({ kind: "sentence", number: number + 1, text }));
  (data?.rows ?? []).forEach((one, number) => rows.push({ kind: "data", number: number + 1, ...one }));
  Object.values(runs).forEach(({ steps, looks, titles }, number) => {
    const point = (kind, step, loss, score) => rows.push({ kind, number: number + 1, label: titles[1][0], step, loss, score });
    for (const [step, loss, score] of steps) point("training", step, loss, score);
    for (const [step, , loss, score] of looks) point("validation", step, loss, score);
  });
  const lines = [COLUMNS.map(cell), ...rows.map((row) => COLUMNS.map((name) => cell(row[name] ?? "")))];
  const text = `\ufeff${lines.map((line) => line.join(",")).join("\r\n")}\r\n`; // with its mark, Excel takes it for UTF-8
  return new File([text], `room-${code}.csv`, { type: "text/csv" });
}
