// Nothing that a reader has chosen since an answer was asked for is undone by it. Gradio tells this file of three moments
// (demos/page/patches/patches.py): of each event of the page, of what a step in the browser writes, and of an answer
// before it is shown. Moments are numbered, so that no clock is needed.
(() => {
  const BY_HAND = new Set(["input", "select", "click", "submit"]); // what a reader does; "change" also follows an answer
  const chosen = new Map(); // component -> the moment at which a reader chose its value last
  let moment = 0;
  const now = () => ++moment;
  const isUpdate = (answer) => answer?.__type__ === "update";
  const hasValue = (answer) => answer !== undefined && (!isUpdate(answer) || "value" in answer);
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  function withoutValue(answer) {
    if (!isUpdate(answer)) return undefined; // which Gradio leaves out
    const { value, ...rest } = answer;
    return rest;
  }

  insideBert.chosenSince = {
    now,

    // An event of the page begins.
    began({ type, event_name: name, target_id: component }) {
      if (type === "event" && name === "input") chosen.set(component, now());
    },

    // A step in the browser, at an event of the reader's, writes these components: as if the reader had set them.
    written({ type, event_name: name }, components, values) {
      if (type !== "event" || !BY_HAND.has(name)) return;
      components.forEach((component, index) => hasValue(values[index]) && chosen.set(component, now()));
    },

    // -> what of an answer is to be shown, of an event that was asked for at the moment `asked`. A drawing of a choice that
    // it would undo is not shown at all: it is asked for once more, and then of what is chosen now. Of any other answer (a
    // run is not begun twice, a recipe not filled in twice) only the values of such choices are left out.
    async kept(asked, event, answer, manager) {
      const undone = new Set();
      for (const [index, component] of event.outputs.entries()) {
        if (!(chosen.get(component) > asked) || !hasValue(answer[index])) continue;
        const value = isUpdate(answer[index]) ? answer[index].value : answer[index];
        if (!same(value, (await manager.get_state_cb(component))?.value)) undone.add(component);
      }
      if (!undone.size) return answer;
      if (event.trigger_modes !== "always_last" || !event.inputs.some((component) => undone.has(component))) {
        return answer.map((one, index) => (undone.has(event.outputs[index]) ? withoutValue(one) : one));
      }
      insideBert.ticks.askAgain(event.inputs[0]);
      manager.queue.add(event.id); // Gradio asks again once this answer is done with
      return [];
    },
  };
})();
