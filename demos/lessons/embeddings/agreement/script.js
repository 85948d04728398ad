// A click on a bar of the agreement chart picks its choice; the lesson then reads its number.
// Plotly lays one transparent sheet over all bars, so the click is taken there and the bar is the one under the pointer.
let picked = -1;

document.addEventListener("click", (event) => {
  const chart = event.target.closest?.("#embeddings-agreement-bars .js-plotly-plot");
  const row = chart?._hoverdata?.find((point) => Array.isArray(point.customdata))?.customdata[0];
  if (!Number.isInteger(row)) return;
  picked = row;
  trigger("select");
});

(insideBert.picked ||= {})[props.name] = () => picked;
