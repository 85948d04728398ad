// The bounds of controls for this sentence and model: the server sends them (demos/page/view.py), and the browser moves
// values beyond them. The server sets no control, so that a reader's newer choice is not undone.
(() => {
  // `said`: {component: its update, and the value that the answer is for, as `said`}, as JSON. A newer choice
  // stays; the answer that belongs to it has its bounds. The box is emptied, so that the same text counts as a change.
  async function apply([names, ids], said, ...values) {
    const limits = JSON.parse(said || "{}");
    // A reader is about to pick one of an open list's options; and Gradio's list fails where these become fewer.
    if (Object.values(limits).some(({ choices }) => choices)) {
      while (document.querySelector("input[role='combobox'][aria-expanded='true']")) await new Promise((go) => setTimeout(go, 100));
      const { choices } = insideBert.link.view();
      values = values.map((value, index) => choices[names[index]] ?? value);
    }
    const updates = ids.map((id, index) => {
      if (!limits[id]) return undefined;
      const { said, value, ...update } = limits[id];
      update.__type__ = "update";
      if (value === said || values[index] !== said) return update;
      insideBert.ticks.know(names[index], value); // the views that read the sentence show this value already
      return { ...update, value };
    });
    return ["", ...updates];
  }

  // The same for the first view that is sent with a page, before Gradio builds it
  function applyFirst(components) {
    for (const { props } of components) {
      if (!props.elem_classes?.includes("limits") || !props.value) continue;
      const limits = JSON.parse(props.value);
      for (const { id, props: own } of components) {
        const { said, value, ...update } = limits[id] ?? {};
        Object.assign(own, update);
      }
    }
  }

  insideBert.limits = { apply, applyFirst };
})();
