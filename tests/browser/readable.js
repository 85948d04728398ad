// What a reader can read of a document, measured: () => { texts, marks }, each as it is on the screen.
// A text: { at, said, size, contrast, box, clipped }, a mark: { at, contrast }. Code panels and what is folded are left out.
(root) => {
  const OWN_LOOK = ".cm-editor, pre, .katex-mathml, .modebar-container, script, style, option, [aria-hidden=true].sr-only";
  const MARKS = ".scatterlayer .js-line, .scatterlayer .point, .barlayer .point path, .legendpoints path, .curve-panels .line";

  const channels = (colour) => {
    const found = /^(rgba?|color)\((srgb )?([^)]*)\)$/.exec(colour);
    if (!found) return null;
    const [r, g, b, alpha = 1] = found[3].split(/[\s,/]+/).filter(Boolean).map(Number);
    return [...[r, g, b].map((one) => (found[1] === "color" ? 255 * one : one)), alpha];
  };
  const over = ([r, g, b, alpha], below) => [r, g, b].map((one, at) => one * alpha + below[at] * (1 - alpha));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const number = (value, otherwise = 1) => (value === "" || Number.isNaN(+value) ? otherwise : +value);

  // A picture's pixel under a point, through the filters of style sheets: a heatmap is an image
  const images = new Map();
  function pixel(image, x, y) {
    if (!images.has(image)) {
      const canvas = document.createElement("canvas");
      const source = new Image();
      source.src = image.getAttribute("href") || image.getAttribute("xlink:href");
      [canvas.width, canvas.height] = [source.naturalWidth || 1, source.naturalHeight || 1];
      const pen = canvas.getContext("2d", { willReadFrequently: true });
      if (source.complete && source.naturalWidth) pen.drawImage(source, 0, 0);
      images.set(image, pen);
    }
    const pen = images.get(image);
    const box = image.getBoundingClientRect();
    const at = [((x - box.left) / box.width) * pen.canvas.width, ((y - box.top) / box.height) * pen.canvas.height];
    const [r, g, b, alpha] = pen.getImageData(...at.map(Math.floor), 1, 1).data;
    return [r, g, b, alpha / 255];
  }

  // The colour of what lies under an element at a point: fills of shapes and backgrounds, the lowest first
  function ground(element, x, y) {
    const paper = channels(getComputedStyle(document.body).getPropertyValue("background-color")) ?? [255, 255, 255, 1];
    let colour = over(paper, light(paper.slice(0, 3)) < 0.2 && paper[3] === 0 ? [0, 0, 0] : [255, 255, 255]);
    const stack = [];
    for (let up = element; up; up = up.parentElement) stack.push(up);
    const shapes = document.elementsFromPoint(x, y);
    const svg = element.closest("svg");
    const drawn = svg ? [...svg.ownerDocument.querySelectorAll("svg :is(path, rect, circle, image)")].filter((shape) => {
      if (shape.closest("defs, clipPath, .draglayer, .hoverlayer, .zoomlayer") || shape === element) return false;
      if (shape.ownerSVGElement.parentElement !== svg.parentElement) return false;
      const box = shape.getBoundingClientRect();
      if (!(box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)) return false;
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
      return shape.localName !== "path" || covers(shape, x, y);
    }) : [];
    for (const one of stack.reverse()) {
      const back = channels(getComputedStyle(one).backgroundColor);
      if (back?.[3]) colour = over(back, colour);
    }
    for (const shape of drawn) {
      const style = getComputedStyle(shape);
      if (style.visibility !== "visible" || style.display === "none") continue;
      const fill = shape.localName === "image" ? pixel(shape, x, y) : channels(style.fill);
      if (fill?.[3]) colour = over([fill[0], fill[1], fill[2], fill[3] * number(style.fillOpacity) * opacity(shape)], colour);
    }
    return colour;
  }
  function covers(path, x, y) {
    const to = path.getScreenCTM()?.inverse();
    return Boolean(to && path.isPointInFill?.(new DOMPoint(x, y).matrixTransform(to)));
  }
  function opacity(element) {
    let product = 1;
    for (let up = element; up && up !== document.body; up = up.parentElement) product *= number(getComputedStyle(up).opacity);
    return product;
  }

  // Pixels of the screen that one of an element's own pixels takes: the page's zoom, and what an svg does to its content
  function scale(element) {
    const zoom = element.currentCSSZoom ?? 1;
    const svg = element.closest("svg");
    if (!svg) return zoom;
    const outer = svg.getBoundingClientRect();
    const view = svg.viewBox.baseVal;
    const shown = view?.width ? Math.min(outer.width / view.width, outer.height / view.height) : zoom;
    const [own, top] = [element.getCTM(), svg.getCTM()];
    return shown * (own && top ? Math.hypot(own.a, own.b) / Math.hypot(top.a, top.b) : 1);
  }

  const name = (element) => {
    const block = element.closest("[id]");
    return `${block?.id ? `#${block.id} ` : ""}${element.localName}.${String(element.className?.baseVal ?? element.className)}`.trim();
  };

  const texts = [];
  const walker = document.createTreeWalker(root ? document.querySelector(root) : document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || !element || element.closest(OWN_LOOK)) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue; // for screen readers alone
    const style = getComputedStyle(element);
    const inSvg = Boolean(element.closest("svg"));
    const colour = channels(inSvg ? style.fill : style.color);
    const middle = [box.left + box.width / 2, box.top + box.height / 2];
    const below = ground(element, ...middle);
    const alpha = colour ? colour[3] * (inSvg ? number(style.fillOpacity) : 1) * opacity(element) : 1;
    const seen = colour ? over([...colour.slice(0, 3), alpha], below) : below;
    texts.push({
      at: name(element), said: node.data.trim().slice(0, 40), svg: inSvg,
      size: parseFloat(style.fontSize) * scale(element),
      contrast: contrast(seen, below), large: parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && +style.fontWeight >= 700),
      disabled: Boolean(element.closest("[disabled], [aria-disabled=true]")),
      box: [box.left, box.top + scrollY, box.width, box.height].map(Math.round),
      plot: element.closest(".js-plotly-plot")?.closest("[id]:not([id^=clip])")?.id ?? "",
    });
  }
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    if (!plot.checkVisibility()) continue;
    for (const trace of plot._fullData ?? []) // what WebGL writes lies on a canvas
      if (trace.type.endsWith("gl") && trace.mode?.includes("text") && trace.visible === true)
        texts.push({ at: `${name(plot)} gl`, said: "", svg: true, size: [trace.textfont.size].flat()[0] * (plot.currentCSSZoom ?? 1), contrast: 21, box: [0, 0, 0, 0], plot: "" });
  }
  // A trace of which nothing is told on hover is what lies behind the others
  const behind = (mark) => mark.closest(".trace")?.__data__?.[0]?.trace?.hoverinfo === "skip";
  const marks = [...document.querySelectorAll(MARKS)].filter((mark) => mark.checkVisibility() && !behind(mark)).map((mark) => {
    const style = getComputedStyle(mark);
    const box = mark.getBoundingClientRect();
    const below = ground(mark.closest("svg"), box.left, box.top);
    const contrasts = [["fill", style.fillOpacity], ["stroke", style.strokeOpacity]].flatMap(([kind, alpha]) => {
      const colour = channels(style[kind]);
      if (!colour?.[3] || (kind === "stroke" && !parseFloat(style.strokeWidth))) return [];
      return contrast(over([...colour.slice(0, 3), colour[3] * number(alpha) * opacity(mark)], below), below);
    });
    return { at: name(mark), contrast: Math.max(0, ...contrasts), fill: style.fill, stroke: style.stroke, opacity: opacity(mark) };
  }).filter((mark) => mark.contrast > 0);
  return { texts, marks };
}
