// Under each Plotly figure: its sentence and a table of all numbers in it, made of the figure's own data when it is opened
// and each time the figure is redrawn while it is open. A figure with many numbers shows the first rows.
(() => {
  const { made } = insideBert.page;
  const MOST = 5_000; // cells in a table
  const plain = new DOMParser();
  const words = (label) => plain.parseFromString(String(label ?? "").replace(/<br>/g, " "), "text/html").body.textContent;
  const said = (value) => {
    if (typeof value !== "number") return words(value);
    if (!Number.isFinite(value)) return "–";
    return String(Number.isInteger(value) ? value : +value.toPrecision(6));
  };
  const list = (values) => (values?.length === undefined ? [] : Array.from(values));
  const same = (one, other) => one.length === other.length && one.every((value, at) => value === other[at]);

  // -> [{ caption, heads, rows }], a table for each of the figure's panels; the first cell of a row is its name
  function tables({ _fullData: data, data: given, layout }) {
    const title = (axis) => words(layout[axis]?.title?.text).trim();
    const key = (id, letter) => `${letter}axis${(id ?? letter).slice(1)}`;
    const name = (trace) => given[trace.index].name ?? "";
    const shown = data.filter((trace) => trace.visible === true && (trace.hoverinfo !== "skip" || name(trace)));
    // The place of each value along an axis: the axis's own text where it has one; a curve without places counts from 0
    const places = (trace, letter) => {
      const { tickvals = [], ticktext = [] } = layout[key(trace[`${letter}axis`], letter)] ?? {};
      const texts = new Map(list(tickvals).map((value, at) => [value, ticktext[at]]));
      return list(trace[letter] ?? list(trace.y).map((_, at) => at)).map((value) => (typeof value === "number" ? (texts.get(value) ?? value) : value));
    };
    const panels = Map.groupBy(shown, (trace) => `${trace.type === "heatmap" ? trace.index : ""} ${trace.xaxis} ${trace.yaxis}`);
    return [...panels.values()].map((traces) => {
      const [first] = traces;
      const [x, y] = [title(key(first.xaxis, "x")), title(key(first.yaxis, "y"))];
      if (first.type === "heatmap") {
        const columns = list(first.x).length ? places(first, "x") : list(first.z[0]).map((_, at) => at);
        const sides = places(first, "y");
        const rows = list(first.z).map((row, at) => [sides[at] ?? at, ...row]);
        return { caption: [y, x].filter(Boolean).join(", "), heads: ["", ...columns], rows };
      }
      if (first.type === "treemap") {
        return { caption: "", heads: ["", "value"], rows: list(first.labels).map((label, at) => [label, first.values[at]]) };
      }
      const [along, across] = first.orientation === "h" ? ["y", "x"] : ["x", "y"];
      const texts = (trace) => (trace.type === "scatter" && !trace.mode.includes("text") && Array.isArray(trace.text) ? trace.text : null);
      const stands = (trace) => texts(trace) ?? places(trace, along);
      const names = stands(first);
      const heads = { x: x || "x", y: y || "y" };
      if (traces.every((trace) => trace.type !== "scatter3d" && !trace.mode?.startsWith("markers") && same(stands(trace), names))) {
        const columns = traces.map((trace) => (traces.length > 1 ? name(trace) : heads[across]));
        const rows = names.map((place, at) => [place, ...traces.map((trace) => trace[across][at])]);
        return { caption: traces.length > 1 ? heads[across] : "", heads: [heads[along], ...columns], rows };
      }
      const letters = first.type === "scatter3d" ? ["x", "y", "z"] : ["x", "y"];
      const rows = traces.flatMap((trace) => {
        const columns = letters.map((letter) => (letter === along ? places(trace, along) : trace[letter]));
        return list(columns[0]).map((_, at) => [[name(trace), texts(trace)?.[at]].filter(Boolean).join(": "), ...columns.map((column) => column[at])]);
      });
      return { caption: "", heads: ["", ...letters.map((letter) => heads[letter] ?? letter)], rows };
    });
  }

  function table({ caption, heads, rows }) {
    const few = rows.slice(0, Math.max(1, Math.floor(MOST / heads.length)));
    const left = rows.length - few.length;
    const head = made("thead", {}, made("tr", {}, ...heads.map((one) => made("th", { scope: "col" }, said(one)))));
    const body = few.map(([name, ...values]) => made("tr", {}, made("th", { scope: "row" }, said(name)), ...values.map((value) => made("td", {}, said(value)))));
    const told = [caption, left ? `the first ${few.length} of ${rows.length} rows` : ""].filter(Boolean).join("; ");
    return made("table", {}, ...(told ? [made("caption", {}, told)] : []), head, made("tbody", {}, ...body));
  }

  function fill(twin, figure) {
    if (!twin.open || !figure._fullData) return;
    twin.querySelector(".figure-tables").replaceChildren(...tables(figure).map(table));
  }

  // To be called when `figure` is drawn, with its name and the sentence on what it shows
  insideBert.plots.twin = (figure, name, sentence) => {
    const block = figure.closest(".block");
    /** @type {HTMLDetailsElement} */
    let twin = block.querySelector(".figure-table");
    if (!twin) {
      const scrolled = made("div", { className: "figure-tables", tabIndex: 0 });
      scrolled.setAttribute("role", "region");
      twin = made("details", { className: "figure-table" }, made("summary", {}, "Table"), made("p"), scrolled);
      twin.addEventListener("toggle", () => fill(twin, block.querySelector(".js-plotly-plot")));
      block.append(twin);
    }
    twin.querySelector("p").textContent = sentence;
    twin.querySelector("summary").setAttribute("aria-label", `Table: ${name}`);
    twin.querySelector(".figure-tables").setAttribute("aria-label", name);
    fill(twin, figure);
  };
})();
