// A part of the page drawn again as one SVG that stands alone: Plotly's layers, or canvases, svgs and words as they lie,
// in the colours of the moment on our paper. No style sheet, no script and no address is left in it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LEFT_OUT = ".hoverlayer, .draglayer, .zoomlayer, .selectionlayer, .menulayer, .modebar-container, script, style, foreignObject, a[href]";
  const SHAPES = new Set(
    "svg g path rect line circle ellipse polygon polyline text tspan image defs clipPath linearGradient radialGradient stop mask pattern".split(" "),
  );
  const GEOMETRY =
    "id d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox preserveAspectRatio offset gradientUnits gradientTransform clipPathUnits patternUnits patternTransform".split(" ");
  // What a style sheet may say of a shape, and what it is where nobody says anything; the first ones pass on to children.
  const INHERITED = {
    fill: "rgb(0, 0, 0)", "fill-opacity": "1", "fill-rule": "nonzero", stroke: "none", "stroke-opacity": "1",
    "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter",
    "font-family": "", "font-size": "", "font-weight": "400", "font-style": "normal", "text-anchor": "start",
    visibility: "visible", "shape-rendering": "auto", "image-rendering": "auto", "paint-order": "normal",
  };
  const OWN = { opacity: "1", "clip-path": "none", mask: "none", "dominant-baseline": "auto" };
  const UNFIT = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // characters that XML has no room for
  const NOT_SHOWN = ".takeaway, script, style, template, iframe, .eta-bar, .wrap.minimal"; // no part of a picture

  const shape = (name, attributes = {}) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // ---- colour: what style sheets do to it is worked into the numbers, since few programs read CSS in a picture

  // "rgba(1, 2, 3, 0.5)" or "color(srgb 0 0.1 0.2)" -> [r, g, b, alpha], 0..255 and 0..1; null for none and url(...)
  function parts(colour) {
    const found = /^(rgba?|color)\((srgb )?([^)]*)\)$/.exec(colour);
    if (!found) return null;
    const [r, g, b, alpha = 1] = found[3].split(/[\s,/]+/).filter(Boolean).map(Number);
    return [...[r, g, b].map((one) => (found[1] === "color" ? 255 * one : one)), alpha];
  }

  // The functions of a CSS filter as steps on [r, g, b] (W3C Filter Effects: each in sRGB, clamped after each).
  function steps(filter) {
    return [...(filter || "").matchAll(/([a-z-]+)\(([-\d.]+)(%|deg|rad)?\)/g)].flatMap(([, name, number, unit]) => {
      const amount = unit === "%" ? number / 100 : +number;
      if (name === "invert") return [(rgb) => rgb.map((one) => one * (1 - 2 * amount) + 255 * amount)];
      if (name === "brightness") return [(rgb) => rgb.map((one) => one * amount)];
      if (name !== "hue-rotate") return [];
      const angle = unit === "rad" ? amount : (amount * Math.PI) / 180;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      return [
        ([r, g, b]) => [
          (0.213 + 0.787 * cos - 0.213 * sin) * r + (0.715 - 0.715 * cos - 0.715 * sin) * g + (0.072 - 0.072 * cos + 0.928 * sin) * b,
          (0.213 - 0.213 * cos + 0.143 * sin) * r + (0.715 + 0.285 * cos + 0.14 * sin) * g + (0.072 - 0.072 * cos - 0.283 * sin) * b,
          (0.213 - 0.213 * cos - 0.787 * sin) * r + (0.715 - 0.715 * cos + 0.715 * sin) * g + (0.072 + 0.928 * cos + 0.072 * sin) * b,
        ],
      ];
    });
  }
  const clamp = (one) => Math.min(255, Math.max(0, one));
  const filtered = (rgb, all) => all.reduce((now, step) => step(now).map(clamp), rgb);

  // An image or a canvas through those steps, as a data address
  function baked(source, width, height, all) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d");
    pen.drawImage(source, 0, 0, width, height);
    if (all.length) {
      const pixels = pen.getImageData(0, 0, width, height);
      const known = new Map(); // a heatmap has few colours
      for (let at = 0; at < pixels.data.length; at += 4) {
        const key = (pixels.data[at] << 16) | (pixels.data[at + 1] << 8) | pixels.data[at + 2];
        if (!known.has(key)) known.set(key, filtered([...pixels.data.subarray(at, at + 3)], all));
        pixels.data.set(known.get(key), at);
      }
      pen.putImageData(pixels, 0, 0);
    }
    return canvas.toDataURL("image/png");
  }

  async function loaded(address) {
    const image = new Image();
    image.src = address;
    await image.decode();
    return image;
  }

  // ---- an svg of the page, drawn again: known shapes only, computed styles as attributes, nothing that points outside

  const onPaper = (colour, all) => `rgb(${filtered(colour.slice(0, 3), all).map(Math.round).join(", ")})`;

  function dress(copy, from, above, all, picture) {
    const style = getComputedStyle(from);
    const alphas = { fill: 1, stroke: 1 };
    for (const [name, plain] of Object.entries({ ...INHERITED, ...OWN })) {
      let value = style.getPropertyValue(name);
      const own = name in OWN;
      if (name in alphas) {
        const colour = parts(value);
        if (colour) {
          alphas[name] = colour[3];
          value = onPaper(colour, all);
        } else if (all.length) {
          value = value.replace(/#([^"')]+)/, (_, id) => `#${gradient(id, all, picture)}`);
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
      if (colour) copy.setAttribute("stop-color", onPaper(colour, all));
      copy.setAttribute("stop-opacity", style.stopOpacity * (colour?.[3] ?? 1));
    }
    return above;
  }

  // A gradient that a filtered shape is filled with, its own stops filtered: its new name
  function gradient(id, all, picture) {
    const copy = document.getElementById(id) && redrawn(document.getElementById(id), {}, all, picture, true);
    if (!copy) return id;
    copy.id = `${id}-${picture.defs.childNodes.length}`;
    picture.defs.append(copy);
    return copy.id;
  }

  // `picture` collects what is made beside the drawing: gradients, and images that are still being drawn.
  function redrawn(from, above, before, picture, hidden = false) {
    if (from.nodeType === Node.TEXT_NODE) return document.createTextNode(from.data.replace(UNFIT, "\ufffd"));
    if (!SHAPES.has(from.localName) || from.namespaceURI !== SVG || from.matches(LEFT_OUT)) return null;
    const defs = hidden || from.localName === "defs" || from.localName === "clipPath"; // not drawn where they stand
    if (!defs && getComputedStyle(from).display === "none") return null;
    const copy = shape(from.localName);
    for (const name of GEOMETRY) if (from.hasAttribute(name)) copy.setAttribute(name, from.getAttribute(name));
    const all = [...steps(getComputedStyle(from).filter), ...before];
    const inner = dress(copy, from, above, all, picture);
    if (from.localName === "image") {
      const address = from.getAttribute("href") || from.getAttributeNS("http://www.w3.org/1999/xlink", "href") || "";
      if (!address.startsWith("data:image/")) return null;
      const drawn = all.length
        ? loaded(address).then((image) => baked(image, image.naturalWidth, image.naturalHeight, all))
        : Promise.resolve(address);
      copy.setAttribute("image-rendering", "pixelated"); // a heatmap's cells keep their edges at twice the size
      picture.waiting.push(drawn.then((data) => copy.setAttribute("href", data)));
    }
    for (const child of from.childNodes) {
      const made = redrawn(child, inner, all, picture, defs);
      if (made) copy.append(made);
    }
    return copy;
  }

  // ---- what is no svg: canvases, and HTML's words, fields of colour and rules

  // A canvas with what style sheets do to it
  function printed(canvas, place) {
    const all = steps([canvas, canvas.parentNode].map((one) => getComputedStyle(one).filter).join(" "));
    return shape("image", { ...place, preserveAspectRatio: "none", "image-rendering": "pixelated", href: baked(canvas, canvas.width, canvas.height, all) });
  }

  // An element's background and the rule under it
  function field(element, place) {
    const style = getComputedStyle(element);
    const made = [];
    const [ground, rule] = [style.backgroundColor, style.borderBottomColor].map(parts);
    if (ground?.[3]) made.push(shape("rect", { ...place, rx: parseFloat(style.borderRadius) || 0, fill: onPaper(ground, []), "fill-opacity": ground[3] }));
    const width = style.borderBottomStyle === "none" ? 0 : parseFloat(style.borderBottomWidth);
    if (width && rule?.[3]) made.push(shape("rect", { ...place, y: place.y + place.height - width, height: width, fill: onPaper(rule, []), "fill-opacity": rule[3] }));
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
        x: place.x, y: place.y + (place.height * above) / (above + below), fill: onPaper(colour, []), "fill-opacity": colour[3],
        "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle,
      });
      made.textContent = said.replace(UNFIT, "\ufffd");
      return made;
    });
  }

  // ---- the whole

  const ICON = 40; // pixels; what is no wider is no picture
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getBoundingClientRect().width > 0;
  const within = (root, selector) => [...root.querySelectorAll(selector)].filter(seen);

  // What the picture is made of, bottom first: elements and text nodes
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
  async function redraw(root) {
    const found = root ? pieces(root) : [];
    const frames = found.filter((piece) => (piece.localName === "canvas" || piece.localName === "svg") && piece.getBoundingClientRect().width > ICON);
    if (!frames.length) return null;
    const zoom = root.currentCSSZoom ?? 1; // large type zooms the page: what is measured on it is larger than it says
    const origin = found[0].getBoundingClientRect();
    const where = (at) => ({ x: (at.left - origin.left) / zoom, y: (at.top - origin.top) / zoom, width: at.width / zoom, height: at.height / zoom });
    const ends = [found[0], ...frames].map((piece) => where(piece.getBoundingClientRect()));
    const width = Math.ceil(Math.max(...ends.map((end) => end.x + end.width)));
    const height = Math.ceil(Math.max(...ends.map((end) => end.y + end.height)));
    const picture = { defs: shape("defs"), waiting: [] };
    const whole = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const paper = getComputedStyle(document.body).getPropertyValue("--paper").trim();
    whole.append(shape("rect", { width, height, fill: paper }), picture.defs);
    for (const piece of found) {
      if (piece.nodeType === Node.TEXT_NODE) {
        whole.append(...words(piece, where));
        continue;
      }
      const place = where(piece.getBoundingClientRect());
      if (piece.localName === "canvas") whole.append(printed(piece, place));
      else if (piece.localName === "svg") {
        const copy = redrawn(piece, {}, [], picture);
        for (const [name, value] of Object.entries(place)) copy?.setAttribute(name, value);
        if (copy?.childNodes.length) whole.append(copy);
      } else whole.append(...field(piece, place));
    }
    await Promise.all(picture.waiting);
    return { text: new XMLSerializer().serializeToString(whole), width, height };
  }

  window.insideBert.redraw = redraw;
})();
