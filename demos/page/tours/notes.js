// The speaker's window: it follows the page that is on the screen, and turns its tour.
const channel = new BroadcastChannel("inside-bert-tour");
const place = (id) => document.getElementById(id);
const begun = Date.now();

function show({ title, at, count, stop, next }) {
  place("waiting").hidden = true;
  place("stop").hidden = false;
  place("tour").textContent = `${title}: ${at} of ${count}`;
  place("title").textContent = stop.title;
  place("notes").innerHTML = stop.notes; // made by the server of Markdown in which no HTML counts
  place("said").innerHTML = stop.text;
  place("none").hidden = Boolean(stop.notes);
  place("next").textContent = next;
  place("after").hidden = !next;
}

channel.addEventListener("message", ({ data }) => data.now && show(data.now));
const turn = (step) => channel.postMessage({ step });
place("back").onclick = () => turn(-1);
place("on").onclick = () => turn(1);
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  turn(step);
});
setInterval(() => {
  const minutes = Math.floor((Date.now() - begun) / 60_000);
  place("clock").textContent = `${minutes} min`;
}, 1000);
channel.postMessage({ asks: true });
