// The bar's examples. The panel is a toolbar (ARIA's pattern): one stop for Tab, arrows, Home and End go along its chips,
// Escape shuts it, and so does the focus when it leaves. Runs once as its js_on_load: `element` is the component.
const button = element.querySelector(".examples-button");
const panel = element.querySelector("#bar-examples-panel");
const chips = [...panel.querySelectorAll(".example-chip")];
let pressed = chips[0];

function show(open) {
  panel.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
}

function focus(chip) {
  for (const other of chips) other.tabIndex = other === chip ? 0 : -1;
  chip.focus();
}

// The chip above or below: of the nearest row, the one whose middle is nearest.
function beside(chip, step) {
  const middle = (one) => one.offsetLeft + one.offsetWidth / 2;
  const rows = [...new Set(chips.map((one) => one.offsetTop))];
  const row = rows[rows.indexOf(chip.offsetTop) + step];
  const near = chips.filter((one) => one.offsetTop === row);
  return near.sort((a, b) => Math.abs(middle(a) - middle(chip)) - Math.abs(middle(b) - middle(chip)))[0];
}

element.addEventListener("click", ({ target }) => {
  const chip = target.closest(".example-chip");
  if (chip) {
    pressed = chip;
    trigger("select");
    show(false);
    button.focus();
  } else if (target.closest(".examples-button")) {
    const open = panel.hidden;
    show(open);
    if (open) focus(pressed);
  }
});

element.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !panel.hidden) {
    show(false);
    button.focus();
  }
  const at = chips.indexOf(event.target);
  if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = {
    ArrowRight: () => chips[at + 1],
    ArrowLeft: () => chips[at - 1],
    ArrowDown: () => beside(chips[at], 1),
    ArrowUp: () => beside(chips[at], -1),
    Home: () => chips[0],
    End: () => chips.at(-1),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  if (next()) focus(next());
});

element.addEventListener("focusout", ({ relatedTarget }) => {
  if (!element.contains(relatedTarget)) show(false);
});
document.addEventListener("pointerdown", ({ target }) => {
  if (!element.contains(target)) show(false); // browsers that don't focus a pressed button send no blur
});

insideBert.picked.example = () => [pressed.dataset.text, pressed.dataset.pair];
