// A tour in a file: one stop at a time; arrow keys or a presenter's clicker turn it. Nothing is loaded from anywhere.
const stops = JSON.parse(document.getElementById("data").textContent);
const place = (id) => document.getElementById(id);
let at = Math.min(Math.max(1, Number.parseInt(location.hash.slice(1), 10) || 1), stops.length);

function draw({ place: id, classes, html, figure, document: whole }) {
  const block = Object.assign(document.createElement("div"), { id, className: `block ${classes}` });
  if (figure) {
    const { data, layout } = JSON.parse(figure);
    block.setAttribute("role", "img");
    block.setAttribute("aria-label", stops[at - 1].title);
    place("stage").append(block);
    if (data.some(({ type }) => type === "scatter3d")) Plotly.use3d();
    Plotly.newPlot(block, data, layout, { responsive: true, displaylogo: false });
  } else if (whole) {
    const frame = Object.assign(document.createElement("iframe"), { srcdoc: whole, title: stops[at - 1].title });
    frame.sandbox = "allow-scripts allow-downloads";
    block.append(frame);
    place("stage").append(block);
  } else {
    const prose = Object.assign(document.createElement("div"), { className: "html-container prose", innerHTML: html }); // escaped where it was made
    for (const link of prose.querySelectorAll("a[href]")) link.removeAttribute("href"); // into the app, which is not here
    block.append(prose);
    place("stage").append(block);
  }
}

function show() {
  const { title, said, text, text_pair: pair, lesson, part, tab, question, pictures } = stops[at - 1];
  place("title").textContent = title;
  place("said").innerHTML = said; // made of Markdown in which no HTML counts
  place("question").innerHTML = question; // escaped where it was made
  place("sentence").textContent = pictures.length && text ? `“${text}”${pair ? ` and “${pair}”` : ""}` : "";
  place("count").textContent = `${at} of ${stops.length}`;
  place("tab").textContent = tab;
  place("none").hidden = pictures.length > 0;
  for (const plot of place("stage").querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
  place("stage").className = `lesson ${lesson} ${part}`;
  place("stage").replaceChildren();
  pictures.forEach(draw);
  place("back").disabled = at === 1;
  place("on").disabled = at === stops.length;
  place("stops").value = String(at);
  history.replaceState(null, "", `#${at}`);
}
function turn(to) {
  if (!stops[to - 1]) return;
  at = to;
  show();
  scrollTo(0, 0);
  place("title").focus({ preventScroll: true });
}

place("stops").append(...stops.map(({ title }, index) => Object.assign(document.createElement("option"), { value: index + 1, textContent: `${index + 1}. ${title}` })));
place("stops").addEventListener("change", ({ target }) => turn(Number(target.value)));
place("back").onclick = () => turn(at - 1);
place("on").onclick = () => turn(at + 1);
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select, input, textarea")) return;
  event.preventDefault();
  turn(at + step);
});
show();
