// <number-cells>: numbers as coloured cells (demos/figures/cell_strip.py) on the canvas inside it, in the colours
// of the moment's theme. `data-values` has them as float32 to be read, shown from -limit (or 0) to `data-limit`;
// `data-places`, a byte each, where they lie on the scale. Both are base64, row by row, as many as the canvas has pixels.
// `data-like` says which ones before it have them, as "checksum name" so that it changes where they do.
(() => {
  const SHADES = 255;
  const { packed } = insideBert.cells;
  const ramps = {};

  // The colours of a scale as ImageData has them, one for each place
  function ramp(name) {
    const theme = document.body.classList.contains("dark") ? "dark" : "light";
    return (ramps[theme + name] ??= packed(insideBert.cells.ramp(name, SHADES)));
  }

  const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

  class NumberCells extends HTMLElement {
    static observedAttributes = ["data-values", "data-places", "data-like", "data-limit", "data-scale"];
    #numbers = null;
    #waits = false;

    // Itself, or the first of its name
    get #first() {
      const name = this.dataset.like?.replace(/^\S+ /, "");
      return name === undefined ? this : this.closest(".matrices").querySelector(`number-cells[data-name="${CSS.escape(name)}"]:not([data-like])`);
    }

    get numbers() {
      if (this.#first !== this) return this.#first.numbers;
      return (this.#numbers ??= new Float32Array(bytes(this.dataset.values ?? "").buffer));
    }

    get #places() {
      const { places, limit, scale } = this.#first.dataset;
      if (places !== undefined) return bytes(places);
      const low = scale === "magnitude" ? 0 : -limit;
      return Uint8Array.from(this.numbers, (value) => Math.round(Math.max(0, Math.min(1, (value - low) / (limit - low))) * (SHADES - 1)));
    }

    connectedCallback() {
      if (dark === undefined) watch();
      this.#paintSoon();
    }

    attributeChangedCallback() {
      this.#numbers = null;
      this.#paintSoon();
    }

    // Once all attributes are there, those of the canvas too
    #paintSoon() {
      if (this.#waits) return;
      this.#waits = true;
      queueMicrotask(() => {
        this.#waits = false;
        if (this.isConnected) this.paint();
      });
    }

    paint() {
      const canvas = this.querySelector("canvas");
      if (!canvas?.width || !canvas.height) return;
      const colours = ramp(this.dataset.scale ?? "signed");
      const pixels = new ImageData(canvas.width, canvas.height);
      const words = new Uint32Array(pixels.data.buffer);
      this.#places.forEach((place, at) => (words[at] = colours[place]));
      canvas.getContext("2d", { willReadFrequently: true }).putImageData(pixels, 0, 0);
    }
  }

  let dark;
  const paintAgain = () => {
    if (dark === (dark = document.body.classList.contains("dark"))) return;
    for (const cells of document.querySelectorAll("number-cells")) cells.paint();
  };
  const watch = () => {
    dark = document.body.classList.contains("dark");
    new MutationObserver(paintAgain).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  };

  customElements.define("number-cells", NumberCells);
})();
