// What is wrong with how a document looks, and figures that have no name, a line each: (least) => [...], with `least`
// the pixels of the screen that a text must have. Left out: what is read aloud alone, and Gradio's own arrow of a fold,
// which is turned by a transform.
(least) => {
  const UNSEEN = "script, style, template, .skip, .icon, #bar [data-testid='block-info'], .katex-mathml";
  const faults = new Set();
  const name = (element) => `${element.localName}${element.id && `#${element.id}`}.${element.className.baseVal ?? element.className}`.slice(0, 60);
  const isCut = (style) => ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis";
  const known = new Map(); // [style, box] of the elements met so far: many texts share theirs
  const measured = (element) => {
    if (!known.has(element)) known.set(element, [getComputedStyle(element), element.getBoundingClientRect()]);
    return known.get(element);
  };
  // Hidden tabs and folds are passed over whole. An element without a box of its own may still have children in sight.
  const seen = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT;
    if (node.matches(UNSEEN)) return NodeFilter.FILTER_REJECT;
    const boxless = getComputedStyle(node).display === "contents";
    return boxless || node.checkVisibility({ opacityProperty: true }) ? NodeFilter.FILTER_SKIP : NodeFilter.FILTER_REJECT;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, seen);
  const range = document.createRange();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    range.selectNodeContents(walker.currentNode);
    const place = range.getBoundingClientRect();
    if (place.width < 2) continue;
    const matrix = element.getScreenCTM?.(); // what an svg does to its content, the page's zoom with it
    const scale = matrix ? Math.hypot(matrix.a, matrix.b) : (element.currentCSSZoom ?? 1);
    const size = parseFloat(measured(element)[0].fontSize) * scale;
    if (size < least - 0.05) faults.add(`${size.toFixed(1)} px: ${text.slice(0, 40)} (${name(element)})`);
    const out = (box) => place.right > box.right + 1.5 || place.left < box.left - 1.5;
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      const [style, box] = measured(up);
      if (["auto", "scroll"].includes(style.overflowX)) break;
      if (style.overflowX === "hidden" && style.textOverflow === "ellipsis") break; // shortened, and says so
      const inside = up.matches("button, th") && out(box);
      if (inside || (isCut(style) && box.width > 2 && out(box))) {
        faults.add(`cut off by ${name(up)}: ${text.slice(0, 40)}`);
        break;
      }
    }
  }
  for (const plot of document.querySelectorAll(".js-plotly-plot:not([aria-label])"))
    if (plot.checkVisibility()) faults.add(`a figure without a name (${plot.closest("[id]").id})`);
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) faults.add(`the page is ${width} px wide`);
  return [...faults];
}
