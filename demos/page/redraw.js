// A part of the page drawn again as one standalone SVG: Plotly's layers, or canvases, svgs and words as they lie,
// in the colours of the moment on our paper. No style sheet, no script and no address is left in it.
(() => {
  const { SVG, drawn } = insideBert.page;
  const LEFT_OUT = ".hoverlayer, .draglayer, .zoomlayer, .selectionlayer, .menulayer, .modebar-container, script, style, foreignObject, a[href]";
  const SHAPES = new Set(
    "svg g path rect line circle ellipse polygon polyline text tspan image defs clipPath linearGradient radialGradient stop mask pattern".split(" "),
  );
  const GEOMETRY =
    "id d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox preserveAspectRatio offset gradientUnits gradientTransform clipPathUnits patternUnits patternTransform".split(" ");
  // The properties that a style sheet may set on a shape, and their defaults; the first ones are inherited by children.
  const INHERITED = {
    fill: "rgb(0, 0, 0)", "fill-opacity": "1", "fill-rule": "nonzero", stroke: "none", "stroke-opacity": "1",
    "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter",
    "font-family": "", "font-size": "", "font-weight": "400", "font-style": "normal", "text-anchor": "start",
    visibility: "visible", "shape-rendering": "auto", "image-rendering": "auto", "paint-order": "normal",
  };
  const OWN = { opacity: "1", "clip-path": "none", mask: "none", "dominant-baseline": "auto" };
  const UNFIT = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // characters that XML has no room for
  const NOT_SHOWN = ".takeaway, .full-screen, script, style, template, iframe, .eta-bar, .wrap.minimal"; // no part of a picture

  const shape = (name, attributes) => drawn(null, name, attributes);

  // "rgba(1, 2, 3, 0.5)" or "color(srgb 0 0.1 0.2)" -> [r, g, b, alpha], 0..255 and 0..1; null for none and url(...)
  function parts(colour) {
    const found = /^(rgba?|color)\((srgb )?([^)]*)\)$/.exec(colour);
    if (!found) return null;
    const [r, g, b, alpha = 1] = found[3].split(/[\s,/]+/).filter(Boolean).map(Number);
    return [...[r, g, b].map((one) => (found[1] === "color" ? 255 * one : one)), alpha];
  }

  // ---- an svg of the page, drawn again: known shapes only, computed styles as attributes, nothing that points outside

  const opaque = (colour) => `rgb(${colour.slice(0, 3).map(Math.round).join(", ")})`;

  function dress(copy, from, above) {
    const style = getComputedStyle(from);
    const alphas = { fill: 1, stroke: 1 };
    for (const [name, plain] of Object.entries({ ...INHERITED, ...OWN })) {
      let value = style.getPropertyValue(name);
      const own = name in OWN;
      if (name in alphas) {
        const colour = parts(value);
        if (colour) {
          alphas[name] = colour[3];
          value = opaque(colour);
        }
      }
      if (name.endsWith("-opacity")) value = String(+(+value * alphas[name.split("-")[0]]).toFixed(4));
      value = value.replace(/url\(["']?[^"')]*#([^"')]+)["']?\)/g, "url(#$1)");
      if (/url\((?!#)/.test(value)) continue;
      if (value !== (own ? plain : (above[name] ?? plain))) copy.setAttribute(name, value);
      if (!own) above = { ...above, [name]: value };
    }
    if (from.localName === "stop") {
      const colour = parts(style.stopColor);
      if (colour) copy.setAttribute("stop-color", opaque(colour));
      copy.setAttribute("stop-opacity", Number(style.stopOpacity) * (colour?.[3] ?? 1));
    }
    return above;
  }

  function redrawn(from, above, hidden = false) {
    if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.data.replace(UNFIT, "\ufffd"));
    if (!SHAPES.has(from.localName) || from.namespaceURI !== SVG || from.matches(LEFT_OUT)) return null;
    const defs = hidden || from.localName === "defs" || from.localName === "clipPath"; // not drawn at their place
    if (!defs && getComputedStyle(from).display === "none") return null;
    const copy = shape(from.localName);
    for (const name of GEOMETRY) if (from.hasAttribute(name)) copy.setAttribute(name, from.getAttribute(name));
    const inner = dress(copy, from, above);
    if (from.localName === "image") {
      const address = from.getAttribute("href") || from.getAttributeNS("http://www.w3.org/1999/xlink", "href") || "";
      if (!address.startsWith("data:image/")) return null;
      copy.setAttribute("image-rendering", "pixelated"); // a heatmap's cells keep their edges at twice the size
      copy.setAttribute("href", address);
    }
    for (const child of from.childNodes) {
      const made = redrawn(child, inner, defs);
      if (made) copy.append(made);
    }
    return copy;
  }

  // ---- what is no svg: canvases, and HTML's words, fields of colour and rules

  const printed = (canvas, place) =>
    shape("image", { ...place, preserveAspectRatio: "none", "image-rendering": "pixelated", href: canvas.toDataURL("image/png") });

  // An element's background and the rule under it
  function field(element, place) {
    const style = getComputedStyle(element);
    const made = [];
    const [ground, rule] = [style.backgroundColor, style.borderBottomColor].map(parts);
    if (ground?.[3]) made.push(shape("rect", { ...place, rx: parseFloat(style.borderRadius) || 0, fill: opaque(ground), "fill-opacity": ground[3] }));
    const width = style.borderBottomStyle === "none" ? 0 : parseFloat(style.borderBottomWidth);
    if (width && rule?.[3]) made.push(shape("rect", { ...place, y: place.y + place.height - width, height: width, fill: opaque(rule), "fill-opacity": rule[3] }));
    return made;
  }

  const pen = document.createElement("canvas").getContext("2d");

  // A text node, a line a text, each where the page has it
  function words(node, where) {
    const style = getComputedStyle(node.parentNode);
    const colour = parts(style.color);
    if (!colour?.[3] || style.visibility !== "visible") return [];
    const found = [];
    const range = document.createRange();
    for (const match of node.data.matchAll(/\S+/g)) {
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const at = range.getBoundingClientRect();
      if (!at.width) continue;
      const last = found.at(-1);
      if (last && Math.abs(last.at.top - at.top) < 2) last.said += ` ${match[0]}`;
      else found.push({ at, said: match[0] });
    }
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = pen.measureText("x");
    return found.map(({ at, said }) => {
      const place = where(at);
      const made = shape("text", {
        x: place.x, y: place.y + (place.height * above) / (above + below), fill: opaque(colour), "fill-opacity": colour[3],
        "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle,
      });
      made.textContent = said.replace(UNFIT, "\ufffd");
      return made;
    });
  }

  // ---- the whole

  const ICON = 40; // pixels; narrower elements are no picture
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getBoundingClientRect().width > 0;
  const within = (root, selector) => [...root.querySelectorAll(selector)].filter(seen);

  // The picture's elements and text nodes, bottom first
  function pieces(root) {
    const plot = within(root, ".js-plotly-plot .svg-container")[0];
    if (plot) return within(plot, ".main-svg, .gl-container canvas");
    const found = [];
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE) found.push(node);
      if (node.nodeType !== Node.ELEMENT_NODE || node.matches(NOT_SHOWN)) return;
      const boxless = getComputedStyle(node).display === "contents";
      if (!boxless && !seen(node)) return;
      if (!boxless) found.push(node);
      if (node.localName !== "svg") node.childNodes.forEach(walk);
    };
    walk(root);
    return found;
  }

  // -> { text, width, height } of what is seen inside `root`, in the page's own pixels; null where no picture is
  function redraw(root) {
    const found = root ? pieces(root) : [];
    const frames = found.filter((piece) => (piece.localName === "canvas" || piece.localName === "svg") && piece.getBoundingClientRect().width > ICON);
    if (!frames.length) return null;
    const zoom = root.currentCSSZoom ?? 1; // large type zooms the page: what is measured on it is larger than it says
    const origin = found[0].getBoundingClientRect();
    const where = (at) => ({ x: (at.left - origin.left) / zoom, y: (at.top - origin.top) / zoom, width: at.width / zoom, height: at.height / zoom });
    const ends = [found[0], ...frames].map((piece) => where(piece.getBoundingClientRect()));
    const width = Math.ceil(Math.max(...ends.map((end) => end.x + end.width)));
    const height = Math.ceil(Math.max(...ends.map((end) => end.y + end.height)));
    const whole = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const paper = getComputedStyle(document.body).getPropertyValue("--paper").trim();
    whole.append(shape("rect", { width, height, fill: paper }));
    for (const piece of found) {
      if (piece.nodeType === Node.TEXT_NODE) {
        whole.append(...words(piece, where));
        continue;
      }
      const place = where(piece.getBoundingClientRect());
      if (piece.localName === "canvas") whole.append(printed(piece, place));
      else if (piece.localName === "svg") {
        const copy = redrawn(piece, {});
        for (const [name, value] of Object.entries(place)) copy?.setAttribute(name, value);
        if (copy?.childNodes.length) whole.append(copy);
      } else whole.append(...field(piece, place));
    }
    return { text: new XMLSerializer().serializeToString(whole), width, height };
  }

  insideBert.pictures.redraw = redraw;
})();
