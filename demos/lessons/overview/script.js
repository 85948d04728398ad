// The overview: point at a token, or move to it with the arrow keys, and its way is marked; a click keeps it.
// Runs after the token picker's script (demos/widgets/token_picker), which chooses the token that is clicked.
let marked = null; // the token whose way is marked
let playing = 0;
const picked = () => Number(insideBert.picked[props.name]());
const [READ, STEP] = [6000, 1000]; // milliseconds of a station with a sentence, and of one without

function mark(token) {
  const overview = element.querySelector(".overview");
  if (!overview || token === marked) return;
  marked = token;
  overview.style.setProperty("--at", token);
  for (const line of overview.querySelectorAll("line")) line.classList.toggle("lit", Number(line.dataset.to) === token);
  for (const row of overview.querySelectorAll("[data-token]")) row.classList.toggle("lit", Number(row.dataset.token) === token);
  for (const link of document.querySelectorAll('#lesson-overview a[data-lesson="encoder"]')) {
    link.dataset.choices = JSON.stringify({ ...JSON.parse(link.dataset.choices), token }); // the station opens at this token
  }
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
  mark(row ? Number(row.dataset.token) : picked());
});
element.addEventListener("pointerleave", () => mark(picked()));
element.addEventListener("click", (event) => {
  if (event.target.closest?.(".play")) play();
  const row = event.target.closest?.("a, button, [data-token]") ? undefined : rowAt(event);
  if (row) row.click();
  mark(picked());
});

element.addEventListener("keydown", () => mark(picked()));

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

function begin() {
  const press = element.querySelector(".play");
  if (press) press.hidden = isStill.matches;
  if (document.querySelector("#lesson-overview.playing")) play(); // of another sentence: that ends it
  marked = null;
  mark(picked());
  if (press && !isStill.matches && insideBert.kept.isFirstVisit()) walk();
}

// On a first visit, until the reader does something: the ways of a few words are marked, one after the other.
function walk() {
  const words = [...element.querySelectorAll("[data-token]:not(.special)")].map((row) => Number(row.dataset.token));
  const few = [0.2, 0.45, 0.7, 0.9].map((share) => words[Math.floor(share * words.length)]);
  const acts = ["pointerdown", "keydown", "wheel", "touchstart"];
  const stop = () => {
    clearTimeout(playing);
    for (const act of acts) window.removeEventListener(act, stop, true);
    mark(picked());
  };
  for (const act of acts) window.addEventListener(act, stop, true);
  element.addEventListener("pointermove", stop, { once: true });
  const show = (at) => {
    if (at === few.length) return stop();
    mark(few[at]);
    playing = setTimeout(show, STEP, at + 1);
  };
  playing = setTimeout(show, STEP, 0);
}
watch("value", begin);
begin();

// "Play": one station after another, the others dimmed, with a sentence on what happens there.
function play() {
  const lesson = document.querySelector("#lesson-overview");
  const isOver = lesson.classList.contains("playing");
  const stations = isOver ? [] : [...lesson.querySelectorAll("[data-station]")];
  clearTimeout(playing);
  const show = (at) => {
    const { told } = stations[at]?.dataset ?? { told: "" };
    for (const station of lesson.querySelectorAll("[data-station]")) station.classList.toggle("now", station === stations[at]);
    lesson.classList.toggle("playing", at < stations.length);
    if (told !== undefined) element.querySelector(".told").textContent = told;
    if (at < stations.length) playing = setTimeout(show, told ? READ : STEP, at + 1);
  };
  show(0);
}
