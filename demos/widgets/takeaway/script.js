// Taking away what is on screen: a picture as PNG with twice its pixels or as SVG (demos/page/redraw.js), and a file that the
// server made for this press. Called by name from demos/widgets/takeaway/takeaway.py.
(() => {
  const SCALE = 2;
  const WIDEST = 16_000; // pixels; no browser's canvas is wider than 16,384

  // The page's fonts as a style sheet, for a picture that is drawn: it knows nothing of its page.
  async function fonts() {
    const rules = [...document.querySelectorAll('link[as="font"]')].map(async ({ href, dataset: { family, weight } }) => {
      const data = await insideBert.page.address(await (await fetch(href)).blob());
      return `@font-face { font-family: "${family}"; font-weight: ${weight}; src: url(${data}); }`;
    });
    return `<style>${(await Promise.all(rules)).join("")}</style>`;
  }

  async function pixels({ text, width, height }) {
    const scale = Math.min(SCALE, WIDEST / width, WIDEST / height);
    const drawn = text.replace(">", `>${await fonts()}`);
    const at = URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
    try {
      const image = new Image();
      image.src = at;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return await new Promise((done) => canvas.toBlob(done, "image/png"));
    } finally {
      URL.revokeObjectURL(at);
    }
  }

  const harmless = (name) => name.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^[.-]+|[.-]+$/g, "").slice(0, 80) || "bert";

  function say(button, words) {
    const line = document.getElementById(button)?.closest(".takeaway")?.querySelector(".takeaway-said");
    if (line) line.textContent = words;
  }

  const save = {
    // The picture inside `selector` as a file; what the screen says of it comes back as one sentence.
    async picture(selector, kind, name) {
      const made = insideBert.pictures.redraw(document.querySelector(selector));
      if (!made) return "There is no picture here yet.";
      const blob = kind === "svg" ? new Blob([made.text], { type: "image/svg+xml" }) : await pixels(made);
      if (!blob) return "This picture is too large for the browser to save.";
      const file = `${harmless(name)}.${kind}`;
      insideBert.page.save(blob, file);
      return `Saved ${file}.`;
    },

    // A press on the button with this id: "layer{layer}" is filled with the value of the input of that name, and
    // "layer{layer+1}" with the number that the page gives to this index.
    async pressed([button, selector, kind, name, names], values) {
      const filled = name.replace(/\{(\w+)(\+1)?\}/g, (_, key, counted) => {
        const value = values[names.indexOf(key)] ?? "";
        return counted && /^\d+$/.test(value) ? Number(value) + 1 : value;
      });
      say(button, "");
      say(button, await save.picture(selector, kind, filled).catch(() => "This browser could not save the picture."));
      return [];
    },

    // The server's answer to a press, JSON text; empty where it refused. What is returned takes its place.
    arrived(button, file) {
      if (file) {
        const { name, type, content } = JSON.parse(file);
        insideBert.page.save(new Blob([content], { type: `${type};charset=utf-8` }), name);
        say(button, `Saved ${name}.`);
      }
      return "";
    },
  };
  insideBert.pictures.save = save;
})();
