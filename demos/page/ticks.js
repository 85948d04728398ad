// Decides which lesson, part and handler redraws: a tick starts each, and only if its inputs have changed.
(() => {
  // Thrown to cancel what follows a step: Gradio goes on with the event's other listeners and shows nothing. A promise that
  // is never resolved would block those too.
  const ENOUGH = "enough";
  const NONE = "none"; // of a batch's handlers

  let stamps = 0;
  const stamp = () => `${Date.now()}-${++stamps}`;

  // A tick makes the lesson or a part redraw by changing, and it changes only when there is something new to draw: the bar,
  // or an opening. The events at the page's opening (the bar, its first part's tab) make one drawing.
  const ticks = {}; // name -> the values that it was stamped for, and the stamp
  const openings = {}; // part -> how often it was turned to
  let open = ""; // the open part
  let turning; // the part that the page is about to turn to by itself
  let passed; // the first part, where the link names another: gradio opens it before that one, and it is not drawn
  const last = (name) => ticks[name]?.stamp ?? "";
  function tick(name, ...now) {
    const said = JSON.stringify(now);
    if (ticks[name]?.said !== said) ticks[name] = { said, stamp: stamp() };
    return last(name);
  }
  // The root says which part is open, for style sheets: a `:has()` is evaluated again for every element that comes or goes.
  function show(part) {
    open = part;
    const root = document.documentElement;
    root.dataset.part = part;
    root.classList.toggle("reads-no-sentence", document.querySelector(`.lesson.unread-${CSS.escape(part)}`) !== null);
  }
  const count = (part) => (openings[part] = (openings[part] ?? 0) + 1);
  function partTold(part) {
    const own = last("settled");
    return own ? tick(`part ${part}`, own, openings[part]) : last(`part ${part}`); // before the lesson's own tick, nothing is to be drawn
  }

  const shared = {}; // choice -> its value when the lesson's parts last heard of it
  const due = new Set(); // handlers
  const heard = {}; // handler -> its last inputs: component -> its value, of those whose change calls it again
  const waiting = {}; // batch -> its handlers that are to be called
  let drawn; // handler -> the inputs of its first drawing, where the page opens at that view

  const isOpen = (fold) => document.querySelector(`#${fold} > .label-wrap`)?.classList.contains("open");

  insideBert.ticks = {
    ENOUGH,
    tick,
    last,

    // The page was sent with these handlers' drawings of these inputs.
    cameWith(inputs) {
      drawn = inputs;
    },

    // A choice has this value, for which no part needs to redraw.
    know(choice, value) {
      shared[choice] = value;
    },

    // The page opens at this part: the lesson's first part, where that is another, is not to be drawn.
    opensAt(part, first) {
      show(part);
      if (part !== first) turning = part;
      passed = part === first ? "" : (passed ?? first);
    },

    // The page is made to show this part.
    turnTo(part) {
      show(part);
      count(part);
      turning = part;
    },

    // The tabs' update where the page turns to a part. A reader's own turn needs none: of two quick ones, each would undo the
    // other for ever.
    selected() {
      if (turning === undefined) throw ENOUGH;
      const part = turning;
      turning = undefined;
      return { __type__: "update", selected: part };
    },

    // A part was opened: -> [its name, its tick]
    openPart(part) {
      if (!insideBert.link.place() || part === passed) {
        passed = "";
        return [open || part, last(`part ${part}`)];
      }
      if (part !== open) count(part);
      show(part);
      turning = undefined;
      return [part, partTold(part)];
    },

    // The lesson should redraw, or a choice that its parts share has moved: only its open part redraws.
    // `names` and `values` are choices that say that they changed when the link fills them too.
    settledPart(parts, moved, names, ...values) {
      const changed = names.filter((name, index) => shared[name] !== values[index]);
      names.forEach((name, index) => (shared[name] = values[index]));
      if (moved || changed.length) count(open);
      partTold(open);
      return parts.map((part) => last(`part ${part}`));
    },

    // A reader moved something that these handlers listen to: they are called, whatever the values are.
    moved(handlers) {
      for (const handler of handlers) due.add(handler);
    },

    // Something changed that these handlers listen to: `watched` are the inputs whose change calls each again, its tick
    // first. A handler is not called for inputs that it has had, in a shut part or fold, or for the view that was sent with
    // the page. A handler with `read` is called at a tick only when those have changed, unless its `ownText` is empty.
    heard({ batch, handlers, values: components }, values) {
      const now = Object.fromEntries(components.map((component, index) => [component, values[index]]));
      const asked = handlers.filter(([handler, watched, inputs, fold, read, ownText]) => {
        if (fold && !isOpen(fold)) return false;
        const isDue = due.delete(handler);
        const isDrawn = !(handler in heard) && drawn && JSON.stringify(drawn[handler]) === JSON.stringify(inputs.map((one) => now[one]));
        const before = heard[handler];
        const compared = read.length && (!ownText || now[ownText]?.trim()) ? read : watched;
        const isNew = now[watched[0]] && !compared.every((one) => before?.[one] === JSON.stringify(now[one]));
        if (isDue || isNew) heard[handler] = Object.fromEntries([...watched, ...read].map((one) => [one, JSON.stringify(now[one])]));
        return isDue || (isNew && !isDrawn);
      });
      if (!asked.length) throw ENOUGH;
      waiting[batch] ??= new Set();
      for (const [handler] of asked) waiting[batch].add(handler);
    },

    // The batch is about to be called: the numbers of its waiting handlers.
    asked(batch) {
      const numbers = [...(waiting[batch] ?? [])].join(",");
      waiting[batch]?.clear();
      return numbers || NONE;
    },
  };
})();
