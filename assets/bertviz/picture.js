// The picture in #vis, for download: an SVG that needs no style sheet, or a PNG of it, as a Blob.
const picture = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LONGEST = 16_000; // pixels of a PNG's side: what every browser's canvas can hold
  const MOST = 100_000_000; // pixels in all
  const GEOMETRY = ["x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "d", "width", "height", "rx", "ry", "transform"];
  // The properties that style sheets and inherited attributes set, and their defaults
  const STYLES = {
    fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-opacity": "1", "stroke-width": "1px", opacity: "1",
  };
  const TYPE = { "font-size": "", "font-weight": "400", "font-style": "normal", "text-anchor": "start" };
  const UNFIT = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // characters that XML has no room for

  // A copy of what can be seen of `element`, or null: nothing is hidden in the file.
  function copy(element) {
    const style = getComputedStyle(element);
    if (style.display === "none" || style.opacity === "0") return null;
    const group = element.tagName === "g";
    if (!group && (style.visibility === "hidden" || (element.tagName === "line" && style.strokeOpacity === "0"))) return null;
    const made = document.createElementNS(SVG, element.tagName);
    for (const name of GEOMETRY) if (element.hasAttribute(name)) made.setAttribute(name, element.getAttribute(name));
    if (group) {
      if (style.opacity !== "1") made.setAttribute("opacity", style.opacity);
      made.append(...[...element.children].map(copy).filter(Boolean));
      return made.firstChild && made;
    }
    const text = element.tagName === "text" || element.tagName === "tspan";
    for (const [name, usual] of Object.entries(text ? { ...STYLES, ...TYPE } : STYLES)) {
      const value = style.getPropertyValue(name);
      if (value !== usual) made.setAttribute(name, value);
    }
    if (!text) return made;
    const parts = [...element.childNodes].map((node) => (node.nodeType === 3 ? node.data.replace(UNFIT, "�") : copy(node)));
    made.append(...parts.filter(Boolean));
    return made;
  }

  function svg(title, rules) {
    const shown = document.querySelector("#vis > svg");
    const [x, y, width, height] = shown.getAttribute("viewBox").split(" ").map(Number);
    const made = document.createElementNS(SVG, "svg");
    const scale = parseFloat(shown.style.width) / width;
    const attributes = { viewBox: `${x} ${y} ${width} ${height}`, width: width * scale, height: height * scale, "font-family": getComputedStyle(shown).fontFamily };
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(document.createElementNS(SVG, "title"));
    made.firstChild.append(title);
    if (rules) {
      made.append(document.createElementNS(SVG, "style"));
      made.lastChild.append(rules);
    }
    const paper = getComputedStyle(document.documentElement).backgroundColor;
    made.append(marks.shape("rect", { x, y, width, height, fill: paper }));
    made.append(...[...shown.children].map(copy).filter(Boolean));
    return { text: new XMLSerializer().serializeToString(made), width: width * scale, height: height * scale };
  }

  // The page's font, { family, weight, data }: for this frame, and for its PNGs, since a drawn SVG knows no font of its page.
  let embedded = "";
  function use({ family, weight, data }) {
    document.fonts.add(new FontFace(family, data, { weight }));
    const reader = new FileReader();
    reader.onload = () => {
      embedded = `@font-face { font-family: "${family}"; font-weight: ${weight}; src: url(${reader.result}); }`;
    };
    reader.readAsDataURL(new Blob([data], { type: "font/woff2" }));
  }

  async function png({ text, width, height }) {
    const scale = Math.min(2, LONGEST / Math.max(width, height), Math.sqrt(MOST / (width * height)));
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  async function take(kind, title) {
    lines.all();
    const made = svg(title, kind === "png" && embedded);
    return kind === "png" ? png(made) : new Blob([made.text], { type: "image/svg+xml" });
  }

  return { take, use };
})();
