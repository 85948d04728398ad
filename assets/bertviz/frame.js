// Runs bertviz's own views inside a sandboxed frame, or in a separate file. A message says what to show; the frame
// passes it to bertviz's script and reports its height and the reader's choice. Each library is loaded once.
const frame = (() => {
  const SCRIPTS = new URLSearchParams(location.search).get("views"); // bertviz's own folder
  const FILTERS = ["All", "Sentence A → Sentence A", "Sentence B → Sentence B", "Sentence A → Sentence B", "Sentence B → Sentence A"];
  const DOUBLE = 300; // milliseconds after a click in which a second one makes it a double-click
  const TALLEST = 2400; // pixels; beyond, the frame scrolls by itself
  // How wide bertviz draws, in its own pixels, and how far that may be scaled to fill the frame.
  const TALL = 1000; // pixels
  const SIZES = {
    head: { left: 14, width: 356, smallest: 0.95, largest: 1.5 },
    model: { left: 0, width: 972, smallest: 0.75, largest: 1.3 },
    neuron: { left: 10, width: 460, smallest: 0.75, largest: 1.3 },
    expanded: { left: 10, width: 1040, smallest: 0.75, largest: 1.3 },
  };
  const $id = (id) => document.getElementById(id);
  const drawing = new Map(); // view -> bertviz's function that draws it from the parameters
  let shown = null; // the last message that was drawn, with the reader's own choices since
  let wanted = null;
  let resting; // the wait for a second click
  let theme = { dark: false, colours: {} };

  function tell(message) {
    if (window.parent !== window) window.parent.postMessage({ bertviz: message }, "*"); // no origin here, none to name
  }

  // bertviz loads its libraries through require.js; they are here already, so this only calls the function behind it.
  window.require = { config() {} };
  window.requirejs = (names, draw) => drawing.set(document.currentScript.dataset.view, draw);

  function script(view) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.dataset.view = view;
      element.onload = resolve;
      element.onerror = reject;
      element.src = new URL(`${view}_view.js`, new URL(SCRIPTS, location.href));
      document.head.append(element);
    });
  }

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
    const wasExpanded = before?.view === "neuron" && expanded();
    const filter = same ? $id("filter").value : "0";
    shown = message;
    $id("vis").replaceChildren();
    const view = $id("view").cloneNode(true); // a bare copy: bertviz's listeners on the menus go with the old one
    view.querySelectorAll("#layer, #att_head").forEach((select) => select.replaceChildren());
    $id("view").replaceWith(view);
    view.className = message.view + (message.sentence_b_start === null ? "" : " pair");
    options($id("filter"), message.sentence_b_start === null ? FILTERS.slice(0, 1) : FILTERS);
    $id("filter").value = filter;
    d3.schemeCategory10 = message.colours.map((colour) => (theme.dark ? lighter(colour) : colour));
    const first = message.view === "model" ? 1 : 0; // where bertviz only writes these down; elsewhere they are indices
    const parameters = {
      attention: unpacked.attention(message),
      default_filter: filter,
      root_div_id: "view",
      layer: message.layer,
      heads: message.heads,
      head: message.head,
      include_layers: Array.from({ length: message.num_layers }, (_, layer) => layer + first),
      include_heads: Array.from({ length: message.num_heads }, (_, head) => head + first),
      total_heads: message.num_heads,
      bidirectional: true,
      display_mode: theme.dark ? "dark" : "light",
    };
    if (message.view === "head") delete parameters.head;
    else delete parameters.heads;
    window.PYTHON_PARAMS = window.bertviz_params = parameters;
    lines.begin(message, message.heads?.length ?? message.num_heads);
    drawing.get(message.view)(window.jQuery, window.d3);
    for (const option of view.querySelectorAll("#layer option, #att_head option")) option.text = +option.value + 1;
    if (wasExpanded && message.view === "neuron") toggle();
    finish();
    new MutationObserver(finish).observe($id("vis"), { childList: true }); // bertviz begins a new picture for each choice
    lines.end(() => tell({ type: "drawn", view: message.view, layer: message.layer, head: message.head }));
  }

  // For dark paper; mixed with white, since raising the lightness alone makes neighbours of some hues.
  const lighter = (colour) => d3.interpolateRgb(colour, "white")(0.3);

  function finish() {
    if (!$id("vis").firstChild) return;
    marks.add(shown, window.bertviz_params.attention[$id("filter").value]);
    label();
    fit();
  }

  // The button beside the layer offers what is not shown: all heads, or the chosen one.
  function label() {
    $id("all-heads").textContent = shown.heads ? "Show all heads" : `Show head ${shown.head + 1} alone`;
  }

  // The neuron view has + and - in each row, which appear on hover; this presses one, for the button and the keyboard.
  function toggle() {
    const half = expanded() ? "#expanded" : "#collapsed";
    document.querySelector(`${half} #leftText g > rect:last-child`)?.dispatchEvent(new MouseEvent("click"));
    fit();
  }

  // bertviz draws in fixed pixels; a view box scales the drawing to the frame, and keeps long tokens inside.
  function fit() {
    const picture = document.querySelector("#vis > svg");
    if (!picture || !shown) return;
    const open = shown.view === "neuron" && expanded();
    const { left, width, smallest, largest } = SIZES[open ? "expanded" : shown.view];
    const height = parseFloat(picture.getAttribute("height")) - (shown.view === "neuron" ? 50 : 0); // it leaves 100 blank
    const roomy = Math.min($id("vis").clientWidth / width, TALL / height); // a long input is not drawn larger than it must be
    const scale = Math.min(largest, Math.max(smallest, roomy));
    picture.setAttribute("viewBox", `${-left} 0 ${width} ${height}`);
    picture.style.setProperty("--scale", scale);
    picture.style.width = `${Math.floor(width * scale)}px`;
    picture.style.height = `${height * scale}px`;
    $id("expand").textContent = open ? "Hide queries and keys" : "Show queries and keys";
    tell({ type: "wide", wide: open });
  }

  function receive(message) {
    if (settle() && shown.view === message.view) message = { ...message, head: shown.head, heads: shown.heads };
    wanted = message;
    unpacked.keep(message);
    if (unpacked.missing(message)) {
      tell({ type: "chose", layer: message.layer, head: message.head, heads: message.heads, again: true });
      return;
    }
    const same = shown && shown.view === message.view && shown.key === message.key;
    const turned = same && (shown.layer !== message.layer || shown.head !== message.head);
    if (!same) {
      draw(message);
    } else {
      if (turned) turn(message);
      shown = message;
      keepOn(message.heads);
    }
  }

  // The page, or a reader in here, chose these heads' lines, null for all of them; the page says which is the chosen head.
  function keepOn(heads, head = shown.head) {
    shown.heads = heads;
    if (shown.view === "head") shown.head = head; // another view is drawn again for it
    if (shown.view === "head") squares.show(heads);
    label();
  }

  // The page chose another layer or head of what is shown: as if it had been picked in bertviz's own menus.
  function turn(message) {
    const { layer, head, view } = shown;
    shown = message;
    if (view === "model") return;
    if (layer !== message.layer) window.jQuery("#layer").val(message.layer).trigger("change");
    if (view === "neuron" && head !== message.head) window.jQuery("#att_head").val(message.head).trigger("change");
  }

  function chose(layer, head, heads = head === shown.head ? shown.heads : [head]) {
    shown = { ...shown, layer, head, heads };
    wanted = shown;
    label();
    tell({ type: "chose", layer, head, heads });
  }

  // Sends the heads that are still on after a press on the squares, if they changed -> whether they did. The chosen head is
  // one of them: if it was switched off, the first is chosen.
  function pressed() {
    squares.number();
    const heads = squares.said();
    if (String(heads) === String(shown.heads)) return false;
    if (heads && !heads.includes(shown.head)) chose(shown.layer, heads[0], heads);
    else {
      keepOn(heads);
      tell({ type: "lines", head: shown.head, heads });
    }
    return true;
  }

  // A press that still waits for a second click was made before what the page says now, and counts first -> whether one did.
  function settle() {
    const waits = resting !== undefined;
    clearTimeout(resting);
    resting = undefined;
    return waits && pressed();
  }

  function wear(given) {
    settle();
    theme = given;
    document.documentElement.classList.toggle("dark", theme.dark);
    for (const [name, colour] of Object.entries(theme.colours)) document.documentElement.style.setProperty(name, colour);
    if (shown) draw((wanted = shown)); // bertviz takes its colours when it draws
  }

  async function take(kind) {
    const { view, layer, head, model = "BERT" } = shown;
    const blob = await picture.take(kind, `Attention in ${model}: ${view} view, layer ${layer + 1}, head ${head + 1}`);
    tell({ type: "picture", kind, blob, view, layer, head });
  }

  document.addEventListener(
    "change",
    (event) => {
      if (event.target.id === "att_head") chose(shown.layer, +event.target.value);
      if (event.target.id !== "layer") return;
      const layer = +event.target.value;
      if (unpacked.missing({ ...shown, layer })) {
        event.stopImmediatePropagation(); // bertviz draws it once it has come
        tell({ type: "chose", layer, head: shown.head, heads: shown.heads });
      } else {
        chose(layer, shown.head);
      }
    },
    true,
  );

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#expand")) toggle();
    else if (shown?.view === "neuron") fit(); // bertviz's own + or -
    else if (event.target.closest?.("#all-heads")) {
      squares.show(shown.heads ? null : [shown.head]);
      pressed();
    } else if (shown?.view === "head") {
      squares.number();
      clearTimeout(resting);
      resting = setTimeout(settle, DOUBLE);
    }
    const thumbnail = shown?.view === "model" && event.target.parentNode?.querySelector?.(":scope > .attn_background");
    if (thumbnail) chose(...thumbnail.id.split("_").slice(-2).map(Number));
  });

  document.addEventListener("dblclick", (event) => {
    if (shown?.view !== "head" || !squares.all().includes(event.target)) return;
    resting ??= 0; // whether or not its first click still waits
    settle();
  });

  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || window.parent === window) return;
    const said = event.data?.bertviz;
    if (said?.theme) wear(said.theme);
    if (said?.font) picture.use(said.font);
    if (said?.message) receive(said.message);
    if (said?.heads !== undefined && shown && !settle()) keepOn(said.heads, said.head);
    if (said?.press) {
      const [x, y] = said.press;
      document.elementFromPoint(x * innerWidth, y * innerHeight)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
    if (said?.export && shown) take(said.export);
  });

  new ResizeObserver(() => {
    if (!shown) return; // the page has reserved what the first drawing needs
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    document.documentElement.classList.toggle("tall", window.parent !== window && height > TALLEST);
    tell({ type: "height", height: Math.min(TALLEST, height) });
  }).observe(document.body);
  window.addEventListener("resize", fit);
  tell({ type: "ready" });
  return { receive, wear, at: () => ({ layer: shown.layer, head: shown.head, heads: shown.heads }) };
})();
