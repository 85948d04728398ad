// Decides which of bertviz's lines are drawn, when, and how strong. It draws with d3, so three of d3's methods change here:
// `append` makes no line that can't be seen, `data` lets a thumbnail wait until it comes into view, and `attr` gives the
// head view's lines the strength that twelve heads at once need. bertviz's own scripts stay as they are installed.
const lines = (() => {
  const SHARED = new Set(["stroke", "stroke-width"]);
  const SLICE = 100; // milliseconds of drawing thumbnails, then the page may answer
  const { append, attr, data } = d3.selection.prototype;
  let view = "";
  let faintest = 0; // weight; a line's opacity is never more
  let headsOn = 1;
  let waiting = new WeakMap(); // a thumbnail's background -> what draws the thumbnail
  let queue = [];
  let busy = false;
  let whenDrawn = null;

  // d3 skips the holes and keeps the others' numbers, which bertviz's hover needs.
  d3.selection.prototype.append = function (name) {
    if (name !== "line" && name !== "path") return append.apply(this, arguments);
    const make = d3.creator(name);
    return this.select(function (datum) {
      return typeof datum === "number" && datum < faintest ? null : this.appendChild(make.call(this));
    });
  };

  // A row's lines share colour and width: they are set once, on the row, since each attribute costs time.
  // With h heads on, bertviz gives a line weight / h: too faint for twelve. Here it is weight / h^(1/4).
  d3.selection.prototype.attr = function (name, value) {
    if (SHARED.has(name) && this.node()?.tagName === "line") {
      this._groups.forEach((row, index) => {
        const line = row.find(Boolean);
        if (line) this._parents[index].setAttribute(name, typeof value === "function" ? value.call(line) : value);
      });
      return this;
    }
    if (name !== "stroke-opacity" || typeof value !== "function" || view !== "head") return attr.apply(this, arguments);
    headsOn = squares.on().length || headsOn;
    const stronger = headsOn ** 0.75;
    return attr.call(this, name, function (weight) {
      return value.call(this, weight) * stronger;
    });
  };

  // The model view's thumbnails: what bertviz would do with its weights is noted down, and done when one is looked at.
  d3.selection.prototype.data = function (weights) {
    const background = this._parents[0]?.firstChild;
    if (!background?.classList?.contains("attn_background")) return data.apply(this, arguments);
    const steps = [];
    const noted = new Proxy({}, { get: (_, verb) => (...given) => (steps.push([verb, given]), noted) });
    waiting.set(background, () => {
      waiting.delete(background);
      steps.reduce((selection, [verb, given]) => selection[verb](...given), data.call(this, weights));
    });
    seen.observe(background);
    return noted;
  };

  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      queue.push(target);
    }
    if (!busy) work();
  });

  function work() {
    const until = performance.now() + SLICE;
    while (queue.length && performance.now() < until) waiting.get(queue.shift())?.();
    busy = queue.length > 0;
    if (busy) requestAnimationFrame(work);
    else whenDrawn?.();
    if (!busy) whenDrawn = null;
  }

  // Before bertviz draws `message` with so many heads on; `drawn` is called when all lines in view are drawn.
  function begin(message, heads) {
    ({ view, faintest } = message);
    headsOn = heads;
    seen.disconnect();
    waiting = new WeakMap();
    queue = [];
    whenDrawn = null;
  }

  function end(drawn) {
    if (view === "model") whenDrawn = drawn;
    else drawn();
  }

  // Every thumbnail, looked at or not: for a picture that is taken away
  function all() {
    for (const background of document.querySelectorAll(".attn_background")) waiting.get(background)?.();
  }

  return { begin, end, all };
})();
