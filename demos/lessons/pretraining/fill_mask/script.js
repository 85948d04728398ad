// Fill the mask: the sentence's words as switches. A press hides a word and looks at it; a press on a hidden word looks at
// it, one more shows it again. Runs once per gr.HTML as its js_on_load: `element` is that component, `props.name` its id.
let marks = []; // "place.id" of each hidden word, the one looked at first
let focused = null; // the mark under the keyboard

const group = () => element.querySelector("[data-marks]");
const read = () => (marks = (group()?.dataset.marks ?? "").split(" ").filter(Boolean));

element.addEventListener("click", (event) => {
  const mark = event.target.closest?.("[data-mark]")?.dataset.mark;
  if (!mark) return;
  const rest = marks.filter((one) => one !== mark);
  marks = marks[0] === mark ? rest : [mark, ...rest];
  trigger("select");
});

element.addEventListener("focusin", (event) => (focused = event.target.closest?.("[data-mark]")?.dataset.mark ?? null));
element.addEventListener("focusout", (event) => {
  if (event.target.isConnected) focused = null;
});

// A redraw makes new switches: the keyboard stays where it was.
watch("value", () => {
  read();
  if (focused && !element.contains(document.activeElement)) {
    element.querySelector(`[data-mark="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
});
read();

insideBert.picked[props.name] = () => marks.join(", ");
