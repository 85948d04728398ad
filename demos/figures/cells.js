// Cells of pictures in the colours of the moment's theme: the scales, the ink on them, and all heads of a model on one canvas.
insideBert.cells = (() => {
  const hex = (colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16));

  // [r, g, b] of `count` places on a scale
  function ramp(name, count) {
    const stops = insideBert.scales[document.body.classList.contains("dark") ? "dark" : "light"][name].map(hex);
    return Array.from({ length: count }, (_, index) => {
      const place = (index / (count - 1)) * (stops.length - 1);
      const from = Math.min(Math.floor(place), stops.length - 2);
      return stops[from].map((value, channel) => Math.round(value + (stops[from + 1][channel] - value) * (place - from)));
    });
  }

  // The same colours as ImageData has them
  const packed = (colours) => Uint32Array.from(colours, ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);

  // The ink that can be read on this colour: black or white, whichever has the higher contrast (WCAG 2)
  function legible([r, g, b]) {
    const linear = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000" : "#fff";
  }

  // All heads on one canvas, `cell` pixels each and `gap` between: `bytes` has side x side of each head, row by row.
  function paint(canvas, data, bytes, colours, cell, gap) {
    const { side, num_layers: layers, num_heads: heads } = data;
    const ratio = window.devicePixelRatio || 1;
    const step = cell + gap;
    canvas.style.width = `${heads * step}px`;
    canvas.style.height = `${layers * step}px`;
    canvas.width = Math.round(heads * step * ratio);
    canvas.height = Math.round(layers * step * ratio);
    const sheet = new OffscreenCanvas(heads * side, layers * side);
    const pixels = new ImageData(heads * side, layers * side);
    const words = new Uint32Array(pixels.data.buffer);
    const shades = packed(colours);
    let from = 0;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        for (let row = 0; row < side; row++) {
          const to = (layer * side + row) * heads * side + head * side;
          for (let column = 0; column < side; column++) words[to + column] = shades[bytes[from++]];
        }
      }
    }
    sheet.getContext("2d").putImageData(pixels, 0, 0);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = side > cell * ratio; // else each weight stays a sharp square
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        const x = Math.round(head * step * ratio);
        const y = Math.round(layer * step * ratio);
        const size = Math.round(cell * ratio);
        context.drawImage(sheet, head * side, layer * side, side, side, x, y, size, size);
      }
    }
  }

  return { ramp, packed, legible, paint };
})();
