/* Where each thing that a row of the lectures promises lies in the window as it is: nothing is pressed or scrolled.

([[selector, [words]], ...]) -> for each row [fault, y]: the fault is "" where all of the row is in sight. */
(promises) => {
  const LEAST = 12; // pixels of height that can be read
  const WHOLE = 0.9; // of a picture without words

  // The part of a box that its scrolling and clipping ancestors, and the window, let through.
  function leftOf(box, node) {
    let { left, top, right, bottom } = box;
    for (let one = node; one && one !== document.body; one = one.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(one);
      const edge = one.getBoundingClientRect();
      if (overflowX !== "visible") [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      if (position === "fixed") break;
    }
    return {
      left: Math.max(left, 0),
      top: Math.max(top, 0),
      right: Math.min(right, innerWidth),
      bottom: Math.min(bottom, innerHeight),
    };
  }

  // Why a box is not seen, or "".
  function hidden(box, node, share) {
    if (!node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return "hidden";
    if (box.height < LEAST) return `${Math.round(box.height)} px high`;
    const { left, top, right, bottom } = leftOf(box, node);
    const seen = Math.max(0, right - left) * Math.max(0, bottom - top);
    if (seen < share * box.width * box.height) return box.bottom > innerHeight ? "below" : "cut";
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    const plot = node.closest(".js-plotly-plot"); // which has its layers one above the other
    return hit && (node.contains(hit) || hit.contains(node) || plot?.contains(hit)) ? "" : "covered";
  }

  // The text below a node, blanks collapsed as the page collapses them, and for each character where it is from.
  function textOf(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const from = [];
    let text = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const [index, sign] of [...node.data].entries()) {
        if (sign === "\u200b") continue;
        const isBlank = /\s/.test(sign);
        if (isBlank && text.endsWith(" ")) continue;
        text += isBlank ? " " : sign;
        from.push(...Array.from(isBlank ? " " : sign, () => [node, index])); // one for each unit of a surrogate pair
        if (sign.length > 1 && !isBlank) from.push([node, index]);
      }
    }
    return [text, from];
  }

  // The pieces of one place of some words: [box, element] of each text node that has some of them.
  function pieces(from, start, end) {
    const ends = new Map();
    for (const [node, index] of from.slice(start, end)) {
      if (!node.data[index]?.trim()) continue;
      const [first] = ends.get(node) ?? [index];
      ends.set(node, [first, index]);
    }
    return [...ends].map(([node, [first, last]]) => {
      const range = document.createRange();
      range.setStart(node, first);
      range.setEnd(node, last + 1);
      return [range.getBoundingClientRect(), node.parentElement];
    });
  }

  // [fault, y] of the best of all places of some words
  function placeOf([text, from], words) {
    let best = ["absent", NaN];
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
      const found = pieces(from, at, at + words.length);
      const faults = found.map(([box, node]) => hidden(box, node, WHOLE)).filter(Boolean);
      const y = Math.round(Math.max(...found.map(([box]) => box.bottom)));
      if (!faults.length) return ["", y];
      if (best[0] === "absent" || best[0] === "hidden" || (faults[0] === "below" && y < best[1])) best = [faults[0], y];
    }
    return best;
  }

  return promises.map(([selector, words]) => {
    const nodes = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    if (!nodes.length) return ["absent", null];
    const found = nodes.map((node) => {
      if (!words.length) {
        const box = node.getBoundingClientRect();
        return [hidden(box, node, WHOLE), Math.round(box.bottom)];
      }
      const text = textOf(node);
      const places = words.map((one) => [...placeOf(text, one), one]);
      const missed = places.filter(([fault]) => fault);
      if (!missed.length) return ["", Math.max(...places.map(([, y]) => y))];
      const [fault, y, which] = missed.sort((a, b) => (b[1] || 1e6) - (a[1] || 1e6))[0];
      return [`${fault}: ${which}`, y];
    });
    const [fault, y] = found.find(([one]) => !one) ?? found[0];
    return [fault, Number.isFinite(y) ? y : null];
  });
}
