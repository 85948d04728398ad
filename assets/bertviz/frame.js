// Runs bertviz's own views inside a sandboxed frame. The page posts what to show; the frame unpacks it, hands it to
// bertviz's script, and posts back its height and what the reader chose. Each library is loaded once.
(() => {
  const SCRIPTS = new URL(new URLSearchParams(location.search).get("views"), location.href); // bertviz's own folder
  const FILTERS = ["All", "Sentence A → Sentence A", "Sentence B → Sentence B", "Sentence A → Sentence B", "Sentence B → Sentence A"];
  // How wide bertviz draws, in its own pixels, and how far that may be scaled to fill the frame.
  const SIZES = {
    head: { left: 14, width: 356, smallest: 0.95, largest: 1.5 },
    model: { left: 0, width: 972, smallest: 0.75, largest: 1.3 },
    neuron: { left: 10, width: 460, smallest: 0.75, largest: 1.3 },
    expanded: { left: 10, width: 1040, smallest: 0.75, largest: 1.3 },
  };
  const $id = (id) => document.getElementById(id);
  const tell = (message) => window.parent.postMessage({ bertviz: message }, "*"); // no origin here, none to name
  const drawing = new Map(); // view -> bertviz's function that draws it from the parameters
  const held = { key: "", weights: new Map(), vectors: new Map() }; // layer -> what was sent of it
  let shown = null; // the last message that was drawn, with the reader's own choices since
  let theme = { dark: false, colours: {} };

  // bertviz asks require.js for its libraries; they are here already, so only the function behind is kept.
  window.require = { config() {} };
  window.requirejs = (names, draw) => drawing.set(document.currentScript.dataset.view, draw);

  // With h heads on, the head view gives a line weight / h: too faint for twelve. Here it is weight / h^(1/4).
  let headsOn = 1;
  const attr = d3.selection.prototype.attr;
  d3.selection.prototype.attr = function (name, value) {
    if (name !== "stroke-opacity" || typeof value !== "function" || shown?.view !== "head") return attr.apply(this, arguments);
    if (headBoxes().length) headsOn = activeHeads().length;
    const stronger = headsOn ** 0.75;
    return attr.call(this, name, function (...line) {
      return value.apply(this, line) * stronger;
    });
  };

  function script(view) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.dataset.view = view;
      element.onload = resolve;
      element.onerror = reject;
      element.src = new URL(`${view}_view.js`, SCRIPTS);
      document.head.append(element);
    });
  }

  const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

  // A list whose entries are made when bertviz asks for them: most layers and heads are never looked at.
  function lazily(length, make) {
    const list = new Array(length);
    for (let index = 0; index < length; index++) {
      Object.defineProperty(list, index, {
        enumerable: true,
        configurable: true,
        get() {
          const value = make(index);
          if (value.sizesOnly) return value;
          Object.defineProperty(list, index, { value, enumerable: true });
          return value;
        },
      });
    }
    return list;
  }

  // bertviz reads layer 0 for its sizes: a layer that isn't here yet answers with these, and holds no numbers.
  const sizesOnly = (list) => Object.assign(list, { sizesOnly: true });

  // [rows of queries][columns of keys] of one layer, head by head
  function weights(layer, [top, bottom], [left, right]) {
    const { num_heads: heads, tokens } = shown;
    const n = tokens.length;
    const packed = held.weights.get(layer);
    if (!packed) return sizesOnly(new Array(heads));
    return lazily(heads, (head) => {
      const matrix = [];
      for (let row = top; row < bottom; row++) {
        const start = (head * n + row) * n;
        matrix.push(Array.from(packed.subarray(start + left, start + right), (byte) => byte / 255));
      }
      return matrix;
    });
  }

  // [tokens][width] of one layer, head by head; `kind` is "queries" or "keys"
  function vectors(layer, kind, [from, to]) {
    const n = shown.tokens.length;
    const packed = held.vectors.get(layer)?.[kind];
    if (!packed) return sizesOnly([[{ length: held.vectors.values().next().value[kind].width }]]);
    const { width, scale, whole } = packed;
    return lazily(shown.num_heads, (head) => {
      const rows = [];
      for (let row = from; row < to; row++) {
        const start = (head * n + row) * width;
        rows.push(Array.from(whole.subarray(start, start + width), (number) => number * scale[head]));
      }
      return rows;
    });
  }

  // What bertviz calls `attention`: everything, and for a pair its four quarters, all cut from the one matrix here.
  function attention() {
    const n = shown.tokens.length;
    const b = shown.sentence_b_start;
    const all = [0, n];
    const cuts = b === null ? [[all, all]] : [[all, all], [[0, b], [0, b]], [[b, n], [b, n]], [[0, b], [b, n]], [[b, n], [0, b]]];
    return cuts.map(([rows, columns]) => ({
      left_text: Object.assign(shown.tokens.slice(...rows), { first: rows[0] }),
      right_text: Object.assign(shown.tokens.slice(...columns), { first: columns[0] }),
      attn: lazily(shown.num_layers, (layer) => weights(layer, rows, columns)),
      queries: lazily(shown.num_layers, (layer) => vectors(layer, "queries", rows)),
      keys: lazily(shown.num_layers, (layer) => vectors(layer, "keys", columns)),
    }));
  }

  function keep(message) {
    if (held.key !== message.key) {
      held.key = message.key;
      held.weights.clear();
      held.vectors.clear();
    }
    for (const [layer, packed] of Object.entries(message.weights)) held.weights.set(+layer, bytes(packed));
    for (const [layer, pair] of Object.entries(message.vectors)) {
      const kinds = Object.entries(pair).map(([kind, packed]) => {
        return [kind, { width: packed.width, scale: packed.scale, whole: new Int16Array(bytes(packed.data).buffer) }];
      });
      held.vectors.set(+layer, Object.fromEntries(kinds));
    }
  }

  function missing({ view, layer, num_layers: layers }) {
    if (view === "model") return held.weights.size < layers;
    return !held.weights.has(layer) || (view === "neuron" && !held.vectors.has(layer));
  }

  function activeHeads() {
    const boxes = headBoxes();
    return boxes.flatMap((box, head) => (box.getAttribute("fill") === d3.schemeCategory10[head % d3.schemeCategory10.length] ? [head] : []));
  }

  // The head view's coloured squares: the last group of its picture
  const headBoxes = () => (shown?.view === "head" ? [...document.querySelectorAll("#vis > svg > g:last-child > rect")] : []);
  const expanded = () => document.querySelector("#expanded")?.getAttribute("visibility") === "visible";

  function options(select, labels) {
    select.replaceChildren(...labels.map((label, index) => new Option(label, index)));
  }

  async function draw(message) {
    if (!drawing.has(message.view)) {
      await script(message.view);
      if (message !== wanted) return;
    }
    const before = shown;
    const same = before && before.view === message.view && before.key === message.key;
    const heads = before?.num_heads === message.num_heads ? activeHeads() : [];
    const wasExpanded = before?.view === "neuron" && expanded();
    const filter = same ? $id("filter").value : "0";
    shown = message;
    const view = $id("view").cloneNode(true); // a bare copy: bertviz's listeners on the menus go with the old one
    view.querySelector("#vis").replaceChildren();
    view.querySelectorAll("#layer, #att_head").forEach((select) => select.replaceChildren());
    $id("view").replaceWith(view);
    view.className = message.view + (message.sentence_b_start === null ? "" : " pair");
    options($id("filter"), message.sentence_b_start === null ? FILTERS.slice(0, 1) : FILTERS);
    $id("filter").value = filter;
    d3.schemeCategory10 = message.colours.map((colour) => (theme.dark ? lighter(colour) : colour));
    const parameters = {
      attention: attention(),
      default_filter: filter,
      root_div_id: "view",
      layer: message.layer,
      heads: heads.length ? heads : null,
      head: message.head,
      include_layers: [...Array(message.num_layers).keys()],
      include_heads: [...Array(message.num_heads).keys()],
      total_heads: message.num_heads,
      bidirectional: true,
      display_mode: theme.dark ? "dark" : "light",
    };
    headsOn = heads.length || message.num_heads;
    if (message.view === "head") delete parameters.head;
    else delete parameters.heads;
    window.PYTHON_PARAMS = window.bertviz_params = parameters;
    drawing.get(message.view)(window.jQuery, window.d3);
    if (wasExpanded && message.view === "neuron") toggle();
    finish();
    new MutationObserver(finish).observe($id("vis"), { childList: true }); // bertviz begins a new picture for each choice
    tell({ type: "drawn", view: message.view, layer: message.layer, head: message.head });
  }

  // For dark paper; mixed with white, since raising the lightness alone makes neighbours of some hues.
  const lighter = (colour) => d3.interpolateRgb(colour, "white")(0.3);

  function finish() {
    mark();
    fit();
  }

  // Beside each token a bar in its word's hue, as in the other lessons; special tokens are grey and slanted.
  function mark() {
    if (shown.view === "model") return;
    const { left_text: left, right_text: right } = window.bertviz_params.attention[$id("filter").value];
    for (const text of document.querySelectorAll("#vis #left text, #vis #right text, #vis .token")) {
      const group = text.parentNode;
      const list = group.parentNode.closest("#left, #leftText") ? left : right;
      const token = list.first + [...group.parentNode.children].indexOf(group);
      if (shown.special[token]) text.classList.add("special");
      const ends = text.style.textAnchor === "end";
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      bar.setAttribute("x", +text.getAttribute("x") + +text.getAttribute("dx") + (ends ? 2 : -5));
      bar.setAttribute("y", +text.getAttribute("y") + 3);
      bar.setAttribute("width", 3);
      bar.setAttribute("height", 16);
      bar.style.fill = shown.hues[token];
      bar.classList.add("hue");
      group.prepend(bar);
    }
  }

  // The neuron view's + and - stand in each row and appear on hover; this presses one, for the button and the keyboard.
  function toggle() {
    const half = expanded() ? "#expanded" : "#collapsed";
    document.querySelector(`${half} #leftText g > rect:last-child`)?.dispatchEvent(new MouseEvent("click"));
    fit();
  }

  // bertviz draws in pixels of its own: a view box scales that to the frame, and keeps long tokens inside.
  function fit() {
    const picture = document.querySelector("#vis > svg");
    if (!picture || !shown) return;
    const open = shown.view === "neuron" && expanded();
    const { left, width, smallest, largest } = SIZES[open ? "expanded" : shown.view];
    const height = parseFloat(picture.getAttribute("height")) - (shown.view === "neuron" ? 50 : 0); // it leaves 100 blank
    const scale = Math.min(largest, Math.max(smallest, $id("vis").clientWidth / width));
    picture.setAttribute("viewBox", `${-left} 0 ${width} ${height}`);
    picture.style.width = `${Math.floor(width * scale)}px`;
    picture.style.height = `${height * scale}px`;
    $id("expand").textContent = open ? "Hide queries and keys" : "Show queries and keys";
    tell({ type: "wide", wide: open });
  }

  let wanted = null;

  function receive(message) {
    wanted = message;
    keep(message);
    if (missing(message)) {
      tell({ type: "chose", layer: message.layer, head: message.head, again: true });
      return;
    }
    const same = shown && shown.view === message.view && shown.key === message.key;
    const turned = same && (shown.layer !== message.layer || shown.head !== message.head);
    if (!same) {
      draw(message);
    } else if (turned) {
      turn(message);
    }
  }

  // The page chose another layer or head of what is shown: as if it had been picked in bertviz's own menus.
  function turn(message) {
    const { layer, head, view } = shown;
    shown = message;
    if (view === "model") return;
    if (layer !== message.layer) window.jQuery("#layer").val(message.layer).trigger("change");
    if (view === "neuron" && head !== message.head) window.jQuery("#att_head").val(message.head).trigger("change");
  }

  function chose(layer, head) {
    shown = { ...shown, layer, head };
    wanted = shown;
    tell({ type: "chose", layer, head });
  }

  document.addEventListener(
    "change",
    (event) => {
      if (event.target.id === "att_head") chose(shown.layer, +event.target.value);
      if (event.target.id !== "layer") return;
      const layer = +event.target.value;
      if (missing({ ...shown, layer })) {
        event.stopImmediatePropagation(); // bertviz draws it once it has come
        tell({ type: "chose", layer, head: shown.head });
      } else {
        chose(layer, shown.head);
      }
    },
    true,
  );

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#expand")) toggle();
    else if (shown?.view === "neuron") fit(); // bertviz's own + or -
    const picture = shown?.view === "model" && event.target.parentNode?.querySelector?.(":scope > .attn_background");
    if (picture) chose(...picture.id.split("_").slice(-2).map(Number));
  });

  document.addEventListener("dblclick", (event) => {
    const active = activeHeads();
    if (headBoxes().includes(event.target) && active.length === 1) chose(shown.layer, active[0]);
  });

  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || window.parent === window) return;
    const said = event.data?.bertviz;
    if (said?.theme) {
      theme = said.theme;
      document.documentElement.classList.toggle("dark", theme.dark);
      for (const [name, colour] of Object.entries(theme.colours)) document.documentElement.style.setProperty(name, colour);
      if (shown) draw((wanted = shown)); // bertviz takes its colours when it draws
    }
    if (said?.message) receive(said.message);
  });

  new ResizeObserver(() => tell({ type: "height", height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(document.body);
  window.addEventListener("resize", fit);
  tell({ type: "ready" });
})();
