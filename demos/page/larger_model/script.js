// The button for a larger model: the page requests its state after loading; a press chooses it as the menu does.
(() => {
  const AGAIN = 3000; // milliseconds after which the server knows whether the Hub answers
  const MOST = 3; // requests at most

  async function ask(left) {
    const answer = await fetch("./larger_model.json").catch(() => undefined);
    const { state = "" } = answer?.ok ? await answer.json() : {};
    document.documentElement.dataset.larger = state;
    if (state === "asking" && left > 1) setTimeout(() => ask(left - 1), AGAIN);
  }

  if (document.readyState === "complete") ask(MOST);
  else window.addEventListener("load", () => ask(MOST));
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button.larger-model");
    if (button) insideBert.link.useModel(button.value);
  });
})();
