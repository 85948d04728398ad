// The token picker: a click or an arrow key on a chip chooses it at once; the lesson then reads its number.
// Runs once per gr.HTML as its js_on_load (`element` is that component), so events are caught above what is redrawn.
let chosen = 0;

function setChosen(chip) {
  chosen = Number(chip.dataset.token);
  for (const other of element.querySelectorAll("[data-token]")) {
    const on = other === chip;
    other.setAttribute("aria-checked", on);
    other.tabIndex = on ? 0 : -1;
  }
}

function choose(chip) {
  setChosen(chip);
  trigger("select");
}

element.addEventListener("click", (event) => {
  const chip = event.target.closest?.("[data-token]");
  if (chip) choose(chip);
});

element.addEventListener("keydown", (event) => {
  const chip = event.target.closest?.("[data-token]");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!chip || !step) return;
  const chips = [...element.querySelectorAll("[data-token]")];
  const next = chips[Math.max(0, Math.min(chips.length - 1, chips.indexOf(chip) + step))];
  event.preventDefault();
  event.stopPropagation(); // else the arrow would turn to the next part too
  if (next === chip) return;
  choose(next);
  next.focus();
});

// A redraw makes new chips: the keyboard stays on the chosen one.
let hadFocus = false;
element.addEventListener("focusin", () => (hadFocus = true));
element.addEventListener("focusout", (event) => (hadFocus = Boolean(event.relatedTarget === null && !event.target.isConnected)));
function read() {
  // The answer may be to a request from before the reader chose another chip, which the link has by now.
  const now = props.link && element.querySelector(`[data-token="${insideBert.link.view().choices[props.link]}"]`);
  const chip = now || element.querySelector('[aria-checked="true"]');
  if (chip) setChosen(chip);
  return chip;
}
watch("value", () => {
  const chip = read();
  if (hadFocus && !element.contains(document.activeElement)) chip?.focus();
});
read();

insideBert.picked[props.name] = () => chosen;
