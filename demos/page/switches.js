// Switches: questions first, in the bar; large type for the lecture hall, light and dark, in the row of lessons.
const press = (name, on) => element.querySelector(`[data-switch="${name}"]`)?.setAttribute("aria-pressed", String(on));
const turn = { questions: () => insideBert.link.askFirst(), large: () => insideBert.looks.largeType(), dark: () => insideBert.looks.dark() };
press("questions", insideBert.link.questionsOn());
press("large", document.documentElement.classList.contains("large-type"));
press("dark", document.body.classList.contains("dark"));
new MutationObserver(() => press("dark", document.body.classList.contains("dark"))).observe(document.body, {
  attributes: true,
  attributeFilter: ["class"],
});
element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-switch]");
  if (!button) return;
  press(button.dataset.switch, turn[button.dataset.switch]());
});
