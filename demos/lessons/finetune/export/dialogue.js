// A question over the page, modal as the browser makes it: Escape cancels, and focus goes back to the button.
function show() {
  const dialogue = element.querySelector("dialog");
  if (!dialogue || dialogue.open) return;
  dialogue.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (pressed) dialogue.close(pressed.value);
  });
  dialogue.addEventListener("close", () => trigger(dialogue.returnValue === "publish" ? "submit" : "clear"), { once: true });
  dialogue.showModal();
}

watch("value", show);
