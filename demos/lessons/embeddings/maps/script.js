// The list beside a map: a click on one of its rows, or on a point of the map (Plotly, which gradio gives no event for),
// chooses that point; the lesson then reads its number. Runs once per gr.HTML as its js_on_load: `element` is that
// component, `props.name` its id, `props.plot` the map's.
let chosen = -1;

function choose(number) {
  if (!Number.isInteger(number)) return;
  chosen = number;
  trigger("select");
}

element.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-point]");
  if (row) choose(Number(row.dataset.point));
});

const { maps } = insideBert;
maps.chosen[props.name] = () => chosen;
maps.choose[props.plot] = choose;

// A new figure may be a new Plotly, or one without its listeners, so each pointer event sets the listener of the plot
// under the pointer. A trace without points (lines, the ring) has no customdata.
if (!maps.listening) {
  maps.listening = ({ target }) => {
    /** @type {Figure} */
    const plot = target.closest?.(".js-plotly-plot");
    const box = plot?.parentElement.closest(Object.keys(maps.choose).map((id) => `#${CSS.escape(id)}`).join());
    if (!plot?.on || !box) return;
    if (plot.tellsMap) plot.removeListener("plotly_click", plot.tellsMap);
    plot.tellsMap = ({ points }) => maps.choose[box.id](points?.find(({ customdata }) => customdata !== undefined)?.customdata);
    plot.on("plotly_click", plot.tellsMap);
  };
  for (const kind of ["pointerover", "pointerdown"]) document.addEventListener(kind, maps.listening, true);
}
