// The button for a larger model: whether it can be had is asked once the page has loaded; a press chooses it as the menu does.
(() => {
  const AGAIN = 3000; // milliseconds after which the server knows whether the Hub answers
  const MOST = 3; // times it is asked

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
    if (button) insideBert.useModel(button.value);
  });
})();
