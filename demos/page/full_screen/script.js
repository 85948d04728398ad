// One picture alone in the window: by F or the button in its corner; Escape brings it back. The controls that are in its row
// come along. It grows until the window is full, and Plotly's figures are drawn for the height that is left.
(() => {
  const [SMALLEST, LARGEST] = [0.75, 3]; // times the size on the page
  const MARGIN = 8; // pixels below it
  const MOST_COLUMNS = 3;
  const MOST_REFITS = 4;
  const STEPS = 6; // of the search for the size
  const CONTROLS = "input, select, textarea";
  const FIXED = ".js-plotly-plot, iframe"; // which never become narrower than on the page, in their own pixels
  const ICON = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/></svg>';
  const root = document.documentElement.classList;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "full-screen", innerHTML: ICON });
  button.setAttribute("aria-keyshortcuts", "F");
  let shown; // the state of the full window: {picture, stage, side, stretch, heights, before}

  const all = (selector, within) => [...within.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const figures = () => all(".js-plotly-plot", shown.picture);

  // The outermost: Gradio gives an HTML's classes to what is inside of it too
  function pictureOf(element) {
    let found = element?.closest?.(".picture");
    for (let above = found; above; above = above.parentElement.closest(".picture")) found = above;
    return found;
  }
  const area = ({ left, right, top, bottom }) => Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)) * Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
  function chosen() {
    const near = pictureOf(document.querySelector(".picture:hover")) ?? pictureOf(document.activeElement);
    const seen = all("#lessons .picture", document).map((one) => [area(one.getBoundingClientRect()), one]);
    return near ?? pictureOf(seen.sort(([one], [other]) => other - one).find(([size]) => size)?.[1]);
  }

  // The picture with the controls beside it: the closest of the part's rows and columns that has any; else, and where a row
  // has many columns, the picture alone
  function stageOf(picture) {
    let at = picture;
    while (!all(CONTROLS, at).length && !at.parentElement.matches(".tabitem, .lesson, #lessons")) at = at.parentElement;
    return at.parentElement.matches(".tabitem, .lesson, #lessons") || (at.matches(".row") && at.children.length > MOST_COLUMNS) ? picture : at;
  }

  // ---- the size

  // The pixels of the window by which the picture, with the controls above and below it, exceeds the window; less than 0
  // where there is room. Below a figure there may be more to read, which is scrolled to.
  function excess() {
    const { stage, side, picture, widths } = shown;
    if (!widths.length && stage === picture) return stage.scrollHeight - stage.clientHeight;
    const controls = all(CONTROLS, stage.matches(".row") ? side : stage);
    const inside = [...(widths.length ? widths.map(([one]) => one) : [side]), ...controls];
    const bottom = Math.max(...inside.map((one) => one.getBoundingClientRect().bottom));
    return bottom + stage.scrollTop + MARGIN - stage.getBoundingClientRect().bottom;
  }
  function fits(zoom) {
    const { picture, widths } = shown;
    picture.style.zoom = zoom;
    return excess() <= 0 && picture.scrollWidth <= picture.clientWidth + 1 && widths.every(([one, width]) => one.offsetWidth >= width - 1);
  }

  function fit() {
    stretch(1);
    let [low, high] = fits(1) ? [1, LARGEST] : fits(SMALLEST) ? [SMALLEST, 1] : [1, 1];
    for (let step = 0; step < STEPS && low < high; step += 1) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    shown.picture.style.zoom = low;
    const drawn = figures().map((figure) => figure.getBoundingClientRect());
    if (drawn.length) stretch(1 - excess() / (Math.max(...drawn.map((one) => one.bottom)) - Math.min(...drawn.map((one) => one.top))));
  }
  const heights = () => figures().map((figure) => [figure, shown.heights.get(figure) ?? shown.heights.set(figure, figure.layout.height).get(figure)]);
  function stretch(times) {
    shown.stretch = Math.max(1, times);
    for (const [figure, height] of heights()) if (height) Plotly.relayout(figure, { height: height * shown.stretch });
  }

  // ---- in and out

  function fill(picture = chosen()) {
    if (!picture) return;
    const stage = stageOf(picture);
    const side = [...stage.children].find((one) => one.contains(picture)) ?? stage;
    const widths = all(FIXED, picture).map((one) => [one, one.offsetWidth]);
    shown = { picture, stage, side, widths, heights: new Map(), stretch: 1, refits: MOST_REFITS, behind: [], scroll: scrollY };
    for (let at = stage; at.parentElement && !at.matches(".gradio-container"); at = at.parentElement)
      for (const one of at.parentElement.children)
        if (one !== at && !one.inert) {
          one.inert = true;
          shown.behind.push(one);
        }
    root.add("filled");
    stage.classList.add("stage");
    side.classList.add("stage-side");
    picture.classList.add("stage-picture");
    stage.append(button);
    label();
    stage.scrollTop = 0;
    fit();
    gone.observe(stage);
    for (const frame of all("iframe", picture)) frames.observe(frame);
  }

  function leave() {
    const { picture, stage, side, heights, behind, scroll } = shown;
    gone.disconnect();
    frames.disconnect();
    shown = undefined;
    root.remove("filled");
    stage.classList.remove("stage");
    side.classList.remove("stage-side");
    picture.classList.remove("stage-picture");
    picture.style.zoom = "";
    for (const one of behind) one.inert = false;
    for (const [figure, height] of heights) if (figure.isConnected) Plotly.relayout(figure, { height });
    picture.append(button);
    label();
    scrollTo({ top: scroll, behavior: "instant" });
  }

  function again() {
    if (!shown) return;
    const { picture } = shown;
    leave();
    fill(picture);
  }

  const label = () => button.setAttribute("aria-label", shown ? "Leave full screen" : "Full screen");
  // bertviz's frame finds its height when it has another width
  const frames = new ResizeObserver(() => shown && (shown.refits -= 1) > 0 && fit());
  const gone = new ResizeObserver(() => shown && !shown.stage.checkVisibility() && leave()); // another part was opened
  const isBehind = ({ target }) => target !== document.body && !shown.stage.contains(target); // in a dialog, a room's panel

  function pressed(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || root.contains("blanked")) return;
    const isLetter = event.key.toLowerCase() === "f" && insideBert.presenting.takesLetters(event) && !document.querySelector("dialog[open]");
    const isEnd = event.key === "Escape" && shown && !isBehind(event) && event.target.getAttribute("aria-expanded") !== "true";
    if (!isLetter && !isEnd) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // a tour goes on
    if (shown) leave();
    else fill();
  }

  function offer({ target }) {
    const picture = !shown && pictureOf(target);
    if (picture && button.parentElement !== picture) picture.append(button);
  }

  label();
  button.onclick = (event) => {
    event.stopPropagation(); // it is no press on the picture
    if (shown) leave();
    else fill(pictureOf(button));
    if (event.detail) button.blur(); // pressed by a mouse: the arrows go on turning the parts
  };
  document.addEventListener("keydown", pressed, true);
  document.addEventListener("pointerover", offer, { passive: true });
  document.addEventListener("focusin", offer);
  addEventListener("resize", () => shown && fit());

  // The layout that a figure is drawn with: of the window's height while it is there. A figure that is new, or has another
  // height than before, is fitted again.
  insideBert.plots.filled = (figure, layout) => {
    if (!shown?.picture.contains(figure)) return layout;
    if (shown.heights.get(figure) !== layout.height) setTimeout(again);
    shown.heights.set(figure, layout.height);
    return { ...layout, height: layout.height && layout.height * shown.stretch };
  };
})();
