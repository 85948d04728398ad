// Token chips and the characters they came from: point at either side and the other lights up; arrow keys walk along.
// Runs once per gr.HTML as its js_on_load (`element` is that component), so events are caught above what is redrawn.
const numbers = (node) => node.dataset.t.split(" ");

function light(node) {
  dark();
  const box = node.closest(".sentence, .tokenizer");
  const wanted = new Set(numbers(node));
  const linked = [...box.querySelectorAll("[data-t]")].filter((other) => numbers(other).some((one) => wanted.has(one)));
  for (const one of linked) one.classList.add("lit");
  const told = element.querySelector(".told");
  if (told) told.textContent = linked.filter((one) => one.dataset.told).map((one) => one.dataset.told).join("   ");
}

function dark() {
  for (const one of element.querySelectorAll(".lit")) one.classList.remove("lit");
  const told = element.querySelector(".told");
  if (told) told.textContent = told.dataset.hint;
}

const linkedNode = (event) => event.target.closest?.("[data-t]");

for (const kind of ["mouseover", "focusin"]) {
  element.addEventListener(kind, (event) => {
    const node = linkedNode(event);
    if (node) light(node);
    else dark();
  });
}
element.addEventListener("mouseleave", dark);
element.addEventListener("focusout", dark);

// One Tab stop a row: left and right go from token to token.
element.addEventListener("keydown", (event) => {
  const node = linkedNode(event);
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!node || !step) return;
  const row = [...node.parentElement.querySelectorAll("[data-t]")];
  const next = row[Math.max(0, Math.min(row.length - 1, row.indexOf(node) + step))];
  node.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  event.preventDefault();
});
