// How far controls go in this sentence and model: the server says it (demos/page/view.py), and the browser moves what lies
// beyond. The server itself sets no control, so that nothing that a reader has chosen meanwhile is undone.
(() => {
  const { ticks } = insideBert;
  const menuIsOpen = () => document.querySelector("input[role='combobox'][aria-expanded='true']");

  // `said`: {component: its update, and the value that the answer is for, as `said`}, as JSON. A value that has been chosen
  // since stays; the answer that is for it says how far it goes. The box is emptied, so that the same may be said again.
  insideBert.limited = async ([names, ids], said, ...values) => {
    const limits = JSON.parse(said || "{}");
    // A reader is about to pick one of an open list's options; and Gradio's list fails where these become fewer.
    if (Object.values(limits).some(({ choices }) => choices)) {
      while (menuIsOpen()) await new Promise((go) => setTimeout(go, 100));
      const { choices } = insideBert.view();
      values = values.map((value, index) => choices[names[index]] ?? value);
    }
    const updates = ids.map((id, index) => {
      if (!limits[id]) return undefined;
      const { said, value, ...update } = limits[id];
      update.__type__ = "update";
      if (value === said || values[index] !== said) return update;
      ticks.know(names[index], value); // what read the sentence is drawn of that already
      return { ...update, value };
    });
    return ["", ...updates];
  };

  // The same for what a page comes with, before Gradio builds it
  insideBert.limitFirst = (components) => {
    for (const { props } of components) {
      if (!props.elem_classes?.includes("limits") || !props.value) continue;
      const limits = JSON.parse(props.value);
      for (const { id, props: own } of components) {
        const { said, value, ...update } = limits[id] ?? {};
        Object.assign(own, update);
      }
    }
  };
})();
