// What several scripts make: elements, shapes of an SVG, files for the reader, and documents that are fetched when needed.
insideBert.page = {
  SVG: "http://www.w3.org/2000/svg",

  // An element with these properties around these children
  made(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  },

  // A shape with these attributes and this text, at the end of `parent` where there is one
  drawn(parent, name, attributes = {}, text = "") {
    const node = document.createElementNS(insideBert.page.SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    parent?.append(node);
    return node;
  },

  // A file for the reader's disk; a File brings its name
  save(file, name = file.name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  },

  // A file's content as an address, "data:…"
  address: (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    }),

  // Loads something that a page needs only when it is opened: the document at `address` holds an element of this id, its
  // style and its script. -> whether it is here
  async bring(address, id) {
    if (document.getElementById(id)) return true;
    const answer = await fetch(address).catch(() => undefined);
    if (!answer?.ok) return false;
    const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.body.append(document.importNode(parsed.getElementById(id), true));
    const script = document.createElement("script"); // one that is parsed does not run
    script.textContent = parsed.querySelector("script").textContent;
    document.head.append(script);
    document.head.append(document.importNode(parsed.querySelector("style"), true));
    return true;
  },
};
