// The table of runs: at most two are ticked, and a third takes the place of the one that was ticked first.
// Runs once per gr.HTML as its js_on_load (`element` is that component).
let order = []; // of ticking, oldest first

const boxes = () => [...element.querySelectorAll("[data-run]")];

element.addEventListener("change", (event) => {
  const box = event.target.closest?.("[data-run]");
  if (!box) return;
  const ticked = boxes().filter((one) => one.checked && one !== box).map((one) => one.dataset.run);
  order = [...order.filter((run) => ticked.includes(run)), ...ticked.filter((run) => !order.includes(run))];
  if (box.checked) order = [...order, box.dataset.run].slice(-2);
  for (const one of boxes()) one.checked = order.includes(one.dataset.run);
  trigger("select");
});

// A redraw makes new boxes: the keyboard stays on the one it was on.
let focused = "";
element.addEventListener("focusin", (event) => (focused = event.target.dataset.run || ""));
element.addEventListener("focusout", (event) => {
  if (event.target.isConnected || event.relatedTarget) focused = "";
});
watch("value", () => {
  if (focused && !element.contains(document.activeElement)) element.querySelector(`[data-run="${focused}"]`)?.focus();
});

insideBert.picked[props.name] = () => order.join(",") || "none";
