// A click on a bar of the agreement chart picks its choice: `picked` is what it sets the two menus to, pooling and layer.
// Plotly lays one transparent sheet over all bars, so the click is taken there and the bar is the one under the pointer.
let picked = [];

document.addEventListener("click", (event) => {
  /** @type {Figure} */
  const chart = event.target.closest?.("#embeddings-agreement-bars .js-plotly-plot");
  const bar = chart?._hoverdata?.find((point) => Array.isArray(point.customdata));
  if (!bar) return;
  picked = bar.customdata.slice(0, 2);
  trigger("select");
});

insideBert.picked[props.name] = () => picked;
