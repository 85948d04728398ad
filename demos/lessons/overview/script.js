// The overview: point at a token, or move to it with the arrow keys, and its way is marked; a click keeps it.
// Runs once as the component's js_on_load (`element` is that component), so events are caught above what is redrawn.
let chosen = 0;
let playing = 0;
const STEP = 1600; // milliseconds a station

const board = () => element.querySelector(".overview");

function mark(token) {
  const overview = board();
  if (!overview) return;
  overview.style.setProperty("--at", token);
  for (const line of overview.querySelectorAll("line")) line.classList.toggle("lit", Number(line.dataset.to) === token);
  for (const row of overview.querySelectorAll("[data-token]")) row.classList.toggle("lit", Number(row.dataset.token) === token);
  for (const link of document.querySelectorAll('#lesson-overview a[data-lesson="encoder"]')) {
    link.dataset.choices = JSON.stringify({ ...JSON.parse(link.dataset.choices), token }); // the station opens at this token
  }
}

function choose(row) {
  chosen = Number(row.dataset.token);
  for (const other of element.querySelectorAll("[data-token]")) {
    other.setAttribute("aria-checked", other === row);
    other.tabIndex = other === row ? 0 : -1;
  }
  mark(chosen);
  trigger("select");
}

// The row under the pointer, anywhere in the picture
function rowAt(event) {
  const rows = event.target.closest?.(".rows");
  if (!rows) return undefined;
  const { top, height } = rows.getBoundingClientRect();
  const all = element.querySelectorAll("[data-token]");
  return all[Math.min(all.length - 1, Math.max(0, Math.floor(((event.clientY - top) / height) * all.length)))];
}

element.addEventListener("pointermove", (event) => {
  const row = rowAt(event);
  mark(row ? Number(row.dataset.token) : chosen);
});
element.addEventListener("pointerleave", () => mark(chosen));
element.addEventListener("click", (event) => {
  if (event.target.closest?.(".play")) play();
  const row = event.target.closest?.("a, button") ? undefined : rowAt(event);
  if (row) choose(row);
});

element.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("[data-token]");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!row || !step) return;
  const rows = [...element.querySelectorAll("[data-token]")];
  const next = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + step))];
  event.preventDefault();
  event.stopPropagation();
  if (next === row) return;
  choose(next);
  next.focus();
});

// A redraw makes new rows: the keyboard stays on the chosen one.
let hadFocus = false;
element.addEventListener("focusin", () => (hadFocus = true));
element.addEventListener("focusout", (event) => (hadFocus = Boolean(event.relatedTarget === null && !event.target.isConnected)));
function begin() {
  const overview = board();
  if (!overview) return;
  overview.querySelector(".play").hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
  chosen = Number(overview.dataset.chosen);
  mark(chosen);
  if (hadFocus && !element.contains(document.activeElement)) overview.querySelector('[aria-checked="true"]')?.focus();
}
watch("value", begin);
begin();

// "Play": one station after another, the others dimmed.
function play() {
  clearTimeout(playing);
  const stations = [...document.querySelectorAll("#lesson-overview [data-station]")];
  const lesson = document.querySelector("#lesson-overview");
  const show = (at) => {
    for (const [number, station] of stations.entries()) station.classList.toggle("now", number === at);
    lesson.classList.toggle("playing", at < stations.length);
    if (at < stations.length) playing = setTimeout(show, STEP, at + 1);
  };
  show(0);
}

(insideBert.picked ||= {})[props.name] = () => chosen;
