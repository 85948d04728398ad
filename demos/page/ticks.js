// Which lesson, which part and which handler draws anew: each is told by a tick, and asked only for what is new to it.
(() => {
  // Thrown where what follows a step is not to happen: Gradio goes on with the others that its event is for, and says
  // nothing. A promise that is never kept would hold those up too.
  const ENOUGH = "enough";
  const NONE = "none"; // of a batch's handlers

  let stamps = 0;
  const stamp = () => `${Date.now()}-${++stamps}`;

  // A tick tells the lesson or a part to redraw by changing, and it changes only when there is something new to draw: the
  // bar, or an opening. What happens at once when the page opens (the bar, its first part's tab) is one draw.
  const ticks = {}; // name -> what it was stamped for, and the stamp
  const openings = {}; // part -> how often it was turned to
  let open = ""; // the open part
  let passed; // the first part, where the link names another: gradio opens it before that one, and it is not drawn
  const last = (name) => ticks[name]?.stamp ?? "";
  function tick(name, ...now) {
    const said = JSON.stringify(now);
    if (ticks[name]?.said !== said) ticks[name] = { said, stamp: stamp() };
    return last(name);
  }
  // The root says which part is open, for style sheets: a `:has()` is asked again for every element that comes or goes.
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
  const heard = {}; // handler -> what it was asked for last: component -> its value, of those it is asked anew for
  const waiting = {}; // batch -> its handlers that are to be asked
  let drawn; // handler -> the inputs of what it has drawn already, where the page opens at that view

  const isOpen = (fold) => document.querySelector(`#${fold} > .label-wrap`)?.classList.contains("open");

  insideBert.ENOUGH = ENOUGH;
  insideBert.ticks = {
    tick,
    last,

    // The page came with what these handlers draw of these inputs.
    cameWith(inputs) {
      drawn = inputs;
    },

    // A choice has this value, of which no part is to be told.
    know(choice, value) {
      shared[choice] = value;
    },

    // The page opens at this part: the lesson's first part, where that is another, is not to be drawn.
    opensAt(part, first) {
      show(part);
      passed = part === first ? "" : (passed ?? first);
    },

    // The page is made to show this part.
    turnTo(part) {
      show(part);
      count(part);
    },
  };

  Object.assign(insideBert, {
    // A part was opened: -> [its name, its tick]
    openPart(part) {
      if (!insideBert.place() || part === passed) {
        passed = "";
        return [open || part, last(`part ${part}`)];
      }
      if (part !== open) count(part);
      show(part);
      return [part, partTold(part)];
    },

    // The lesson should redraw, or a choice that its parts share has moved: tell its open part, and only that one.
    // `names` and `values` are choices that say that they changed when the link fills them too.
    settledPart(parts, moved, names, ...values) {
      const changed = names.filter((name, index) => shared[name] !== values[index]);
      names.forEach((name, index) => (shared[name] = values[index]));
      if (moved || changed.length) count(open);
      partTold(open);
      return parts.map((part) => last(`part ${part}`));
    },

    // A reader moved something that this handler listens to: whatever the values are, it is to be asked.
    moved(handler) {
      due.add(handler);
    },

    // Something changed that these handlers listen to: `watched` are what each is asked anew for, its tick first. What it
    // was asked already, what it will be asked once it or its fold is opened, and what the page came with is not asked.
    // A handler that says what it reads is asked at a tick only when that has changed; but while its `ownText` is empty.
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

    // The batch is about to be asked: for which of its handlers.
    asked(batch) {
      const numbers = [...(waiting[batch] ?? [])].join(",");
      waiting[batch]?.clear();
      return numbers || NONE;
    },
  });
})();
