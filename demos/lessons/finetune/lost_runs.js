// After a reload that lost this page's runs: one sentence above the parts, where a sample takes their place.
// Runs once as the js_on_load of its gr.HTML (`element` is that component).
const TOLD = {
  run: "The page was loaded again: the training that was under way has ended, and this page's runs and trained models are gone.",
  model: "The page was loaded again: its runs and trained models are gone.",
};
const lost = insideBert.lost();
if (TOLD[lost]) {
  const told = element.querySelector("[data-lost]");
  told.textContent = `${TOLD[lost]} Until you train again, “What it learned” and “Your runs” show a sample.`;
  told.hidden = false;
  told.classList.add("notice");
}
