// What an open part lacks for those who can't see, hover, drag, or who set the colours themselves: functions that return
// faults, a line each; `id` is the part's panel.
({
  // Each Plotly figure has a name, a sentence, and a table whose numbers are those that Plotly draws.
  figures(id) {
    const faults = [];
    for (const figure of document.getElementById(id).querySelectorAll(".js-plotly-plot")) {
      if (!figure.checkVisibility() || !figure._fullData?.length) continue;
      const name = figure.getAttribute("aria-label");
      const sentence = figure.getAttribute("aria-description") ?? "";
      if (!name) faults.push("a figure without a name");
      if (!/^[A-Z0-9].{8,}\.$/s.test(sentence) || sentence.length > 300) faults.push(`${name}: “${sentence}”`);
      const twin = figure.closest(".block").querySelector(".figure-table");
      if (twin.open) {
        const said = [...twin.querySelectorAll("td")].map((cell) => cell.textContent);
        const drawn = figure._fullData
          .filter(({ visible, hoverinfo, index }) => visible === true && (hoverinfo !== "skip" || figure.data[index].name))
          .flatMap(({ type, z, x, y, values, orientation }) => {
            if (type === "heatmap") return Array.from(z).flatMap((row) => Array.from(row));
            return Array.from(type === "treemap" ? values : orientation === "h" ? x : y);
          })
          .filter((value) => Number.isFinite(value));
        const numbers = new Set(said.map(Number).filter(Number.isFinite).map((value) => value.toPrecision(5)));
        const lost = drawn.filter((value) => !numbers.has(Number(Number.isInteger(value) ? value : value.toPrecision(6)).toPrecision(5)));
        const cut = /the first \d+ of/.test(twin.textContent);
        if (!said.length || (lost.length && !cut)) faults.push(`${name}: not in its table: ${lost.slice(0, 3)}`);
        twin.open = false;
      } else twin.open = true; // looked at in the next call
    }
    return faults;
  },

  numbers(id) {
    return [...document.getElementById(id).querySelectorAll(".figure-table[open] td")].map((cell) => cell.textContent).join(" ");
  },

  // What is dragged has another way: a slider has a box for its number, a figure is not dragged but where it says so.
  dragged(id) {
    const part = document.getElementById(id);
    const seen = (element) => element.checkVisibility({ visibilityProperty: true });
    const faults = [...part.querySelectorAll('input[type="range"]')]
      .filter((slider) => seen(slider) && !slider.closest(".block").querySelector('input[type="number"]'))
      .map((slider) => `a slider without a box: ${slider.getAttribute("aria-label")}`);
    faults.push(...[...part.querySelectorAll('[draggable="true"]')].map((element) => `dragged: ${element.outerHTML.slice(0, 80)}`));
    for (const figure of part.querySelectorAll(".js-plotly-plot")) {
      const { dragmode, scene, updatemenus } = figure._fullLayout ?? {};
      const other = part.querySelector("#maps-find"); // a point is found without zooming in on it
      if (seen(figure) && dragmode && !other && !(scene && updatemenus?.length)) faults.push(`${figure.getAttribute("aria-label")}: dragged`);
    }
    return faults;
  },

  // What hover alone shows: a title on what can't have the focus, nor stands in what can.
  hovered(id) {
    const part = document.getElementById(id);
    const words = part.innerText;
    return [...part.querySelectorAll("[title]:not(iframe, button, a, input)")]
      .filter((one) => one.checkVisibility() && !one.closest(".cm-editor") && one.title.trim() && !one.closest('[tabindex="0"]') && !words.includes(one.title.trim()))
      .map((one) => `hover alone shows: ${one.title}`);
  },

  // In forced colours: empty marks (bars, swatches, cells) that lie on a ground of their own colour.
  marks(id) {
    const ground = (element) => {
      for (let up = element; up; up = up.parentElement) {
        const colour = getComputedStyle(up).backgroundColor;
        if (!/, 0\)$|transparent/.test(colour)) return colour;
      }
      return "";
    };
    const seen = (element) => {
      const { width, height } = element.getBoundingClientRect();
      return width >= 3 && height >= 3 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    };
    return [...document.getElementById(id).querySelectorAll(".looked-at")]
      .filter((element) => seen(element) && ground(element) === ground(element.parentElement))
      .map((element) => `a mark is lost: ${element.outerHTML.slice(0, 90)}`);
  },

  // Before that: which elements are marks. They are empty and have a ground that is not the one behind them.
  find(id) {
    for (const element of document.getElementById(id).querySelectorAll(":is(span, i, b, li, td, div):empty")) {
      if (element.closest(".js-plotly-plot") || !element.checkVisibility()) continue;
      const own = getComputedStyle(element).backgroundColor;
      let up = element.parentElement;
      while (up && /, 0\)$|transparent/.test(getComputedStyle(up).backgroundColor)) up = up.parentElement;
      const differs = !/, 0\)$|transparent/.test(own) && own !== (up && getComputedStyle(up).backgroundColor);
      element.classList.toggle("looked-at", differs);
    }
  },

  // Groups that arrow keys go along have one stop for Tab.
  stops(id) {
    const seen = (one) => one.checkVisibility({ visibilityProperty: true });
    const stops = (group) => [...group.querySelectorAll("a[href], button, input, [tabindex]")].filter((one) => one.tabIndex >= 0 && !one.disabled && seen(one));
    return [...document.getElementById(id).querySelectorAll('[role="grid"], [role="radiogroup"], [role="toolbar"], [role="tablist"]')]
      .filter((group) => seen(group) && stops(group).length > 1)
      .map((group) => `${stops(group).length} stops: ${group.outerHTML.slice(0, 90)}`);
  },

  // Where the reader wants less motion, nothing moves.
  moving(id) {
    const seconds = (times) => Math.max(...times.split(",").map(parseFloat));
    const moves = ({ animationDuration, transitionDuration }) => seconds(animationDuration) > 0.001 || seconds(transitionDuration) > 0.001;
    return [...document.getElementById(id).querySelectorAll("*")]
      .filter((one) => one.checkVisibility() && moves(getComputedStyle(one)))
      .map((one) => `moves: ${one.outerHTML.slice(0, 90)}`);
  },

  // Wherever Tab leads in the part, the focus is seen and nothing lies over it.
  async walk(id) {
    const faults = [];
    for (const stop of document.getElementById(id).querySelectorAll("a[href], button, input, textarea, select, summary, [tabindex]")) {
      if (stop.tabIndex < 0 || stop.disabled || !stop.checkVisibility({ visibilityProperty: true })) continue;
      stop.focus();
      const until = performance.now() + 300; // it may still move
      let fault;
      do await new Promise(requestAnimationFrame);
      while (document.activeElement === stop && (fault = this.focus()) && performance.now() < until);
      if (document.activeElement === stop) faults.push(fault);
    }
    document.activeElement.blur();
    scrollTo(0, 0);
    return faults.filter(Boolean);
  },

  // What has the focus, and whether it is seen: an outline (its own, or that of what it stands in), nothing over it.
  focus() {
    const element = document.activeElement;
    if (!element || element === document.body) return "";
    const outlined = (one) => getComputedStyle(one).outlineStyle !== "none" && parseFloat(getComputedStyle(one).outlineWidth) >= 1;
    let up = element;
    for (let step = 0; step < 4 && up && !outlined(up); step++) up = up.parentElement;
    const label = `${element.localName}#${element.id}.${element.className}`.slice(0, 70);
    if (!up || !outlined(up)) return `no outline: ${label}`;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    if (right - left < 2 || bottom - top < 2) return "";
    const met = document.elementFromPoint((left + right) / 2, Math.min(Math.max((top + bottom) / 2, 1), innerHeight - 1));
    const same = met && (element.contains(met) || met.contains(element) || met.closest("label, .block") === element.closest("label, .block"));
    return same ? "" : `covered by ${met?.localName}.${met?.className}: ${label}`;
  },
})
