// Plotly's figures come in the colours of the light page, drawn once for all readers. Here they change into those of the
// dark one before they are drawn, and again when the theme changes: scales, the ink on them, and the grey between both.
// Each gets a name for those who can't see it, the label that its part has given it, and the sentence on what it shows.
// A figure that is arranged otherwise on a phone says how (`for_phones` in demos/figures/figure/figure.py).
(() => {
  const GREY = "#7b8288"; // BOTH_PAPERS in demos/figures/axes.py
  const NEAR = "200px";
  const ACTS = ["pointerdown", "keydown", "wheel", "input", "scroll", "beforeprint"];
  const given = new Map(); // figure -> what it was drawn from: data, layout, config
  const painted = new WeakMap(); // figure -> the look that it was drawn in
  const isDark = () => document.body.classList.contains("dark");
  const PHONE = matchMedia("(max-width: 640px)");
  const opposite = { "#ffffff": "#000000", "#000000": "#ffffff" };
  let Plotly;
  let change; // Plotly's own `react`

  // A Plotly colour scale of the light page -> the dark page's
  function scaleFor(value) {
    if (!Array.isArray(value) || !Array.isArray(value[0])) return null;
    const colours = String(value.map((stop) => stop[1]));
    const name = Object.keys(insideBert.scales.light).find((one) => String(insideBert.scales.light[one]) === colours);
    return name && value.map(([place], at) => [place, insideBert.scales.dark[name][at]]);
  }

  function recoloured(value, dark, key = "", heatmap = false) {
    if (typeof value === "string") {
      if (value === GREY) return getComputedStyle(document.body).getPropertyValue("--muted").trim();
      if (dark && heatmap) return value.replace(/(color|fill):(#ffffff|#000000)/g, (_, what, ink) => `${what}:${opposite[ink]}`);
      return value;
    }
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    const inside = heatmap || value.type === "heatmap";
    if (key === "colorscale" && dark) return scaleFor(value) ?? value;
    if (Array.isArray(value)) return value.map((one) => recoloured(one, dark, "", inside));
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recoloured(one, dark, name, inside)]));
  }

  const isOfNames = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

  // A part of a figure with the changes laid over it, name by name
  function changed(part, changes) {
    if (!isOfNames(part) || !isOfNames(changes)) return changes;
    return { ...part, ...Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, changed(part[name], change)])) };
  }

  // What a figure is to be drawn from here: [data, layout, config]
  function drawnFrom(figure) {
    const [data, { phone, ...layout }, config] = given.get(figure);
    if (!phone || !PHONE.matches) return [data, layout, config];
    return [data.map((trace, at) => changed(trace, phone.data[at] ?? {})), changed(layout, phone.layout), config];
  }

  const look = (figure) => `${isDark() ? "dark" : "light"} ${"phone" in given.get(figure)[1] && PHONE.matches ? "phone" : ""}`;

  function paint(figure) {
    const dark = isDark();
    const [data, ofPage, config] = drawnFrom(figure);
    const layout = insideBert.plots.filled(figure, ofPage);
    painted.set(figure, look(figure));
    figure.style.height = "";
    // On an existing figure, `react` leaves out a label that was empty before and keeps ranges of axes that are tied to
    // each other: it is for heatmaps, which are half of all figures; the others are drawn as new ones.
    const draw = data.every(({ type }) => type === "heatmap") ? change : Plotly.newPlot;
    const drawn = withoutBase(() => draw.call(Plotly, figure, recoloured(data, dark), recoloured(layout, dark), config));
    name(figure, layout.meta ?? "");
    return drawn;
  }

  // Where the page has a base address, Plotly writes the page's own address before the #id of each pattern and clip path.
  // The link changes with every choice, and such a pattern is then not found: its bars lose their colour.
  function withoutBase(draw) {
    const base = document.querySelector("base");
    const address = base?.getAttribute("href");
    base?.removeAttribute("href");
    try {
      return draw();
    } finally {
      if (address) base.setAttribute("href", address);
    }
  }

  function name(figure, sentence) {
    const block = figure.closest(".block")?.id;
    const { label } = window.gradio_config.components.find(({ props }) => block && props.elem_id === block)?.props ?? {};
    if (!label) return;
    figure.setAttribute("role", "figure");
    figure.setAttribute("aria-label", label);
    figure.setAttribute("aria-description", sentence);
    insideBert.plots.twin(figure, label, sentence);
  }

  function paintAgain() {
    for (const figure of given.keys()) {
      if (!figure.isConnected) given.delete(figure);
      else if (painted.get(figure) !== look(figure) && figure.offsetWidth) paint(figure);
    }
  }

  // Plotly is a second of work: it waits until a figure comes near the screen, or the reader does something.
  insideBert.plots.areNear = () =>
    new Promise((resolve) => {
      const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && begin(), { rootMargin: NEAR });
      const begin = () => {
        near.disconnect();
        for (const act of ACTS) window.removeEventListener(act, begin, true);
        resolve();
      };
      for (const act of ACTS) window.addEventListener(act, begin, true);
      for (const { type, props } of window.gradio_config.components) {
        const block = type === "plot" && document.getElementById(props.elem_id);
        if (block) near.observe(block);
      }
    });

  // A figure out of sight has no size to be drawn in; one that is given another width is drawn for that. Gradio requests
  // it after every drawing, and Plotly at every change of the window: neither is needed then.
  let resize; // Plotly's own
  const shown = new ResizeObserver((changes) => {
    paintAgain();
    for (const { target, contentRect } of changes) {
      const figure = /** @type {Figure} */ (target);
      if (!contentRect.width || !(Math.abs(contentRect.width - figure._fullLayout?.width) > 1)) continue;
      figure.style.height = `${figure._fullLayout.height}px`; // Plotly forgets it, and measures the figure's height
      resize.call(Plotly.Plots, figure);
    }
  });
  Object.defineProperty(window, "Plotly", {
    configurable: true,
    get: () => Plotly,
    set(library) {
      Plotly = library;
      change = library.react;
      resize = library.Plots.resize;
      library.Plots.resize = async (figure) => figure;
      library.react = (figure, ...drawn) => {
        if (drawn[0].some(({ type }) => type === "scatter3d")) library.use3d?.(); // of our own build
        given.set(figure, drawn);
        shown.observe(figure);
        return paint(figure);
      };
      new MutationObserver(paintAgain).observe(document.body, { attributes: true, attributeFilter: ["class"] });
      PHONE.addEventListener("change", paintAgain);
    },
  });
})();
