// The editor of a tour of the reader's own: stops are added from the open view, reworded, moved, removed; a tour is
// written to a file and read from one. The server reads what is written, so that faults are the same everywhere.
(() => {
  const { NAME, read, keep, close } = insideBert.ownTour;
  const editor = document.getElementById("own-tour");
  /** @param {string} selector */
  const part = (selector) => editor.querySelector(selector);
  const word = (name) => part("template[data-words]").content.querySelector(`[data-word="${name}"]`).textContent;
  const [MOST_STOPS, MOST_BYTES] = [Number(editor.dataset.mostStops), Number(editor.dataset.mostBytes)];
  const PASSING = ["tour", "review", "stop", "present", "__theme", "cut"]; // in the link, but not the view's
  const own = read();
  let reading; // the file that was chosen, until it is in the editor

  const say = (text) => (part("[data-told]").textContent = text);
  function save() {
    delete own.tour; // the server is to read it again
    say(keep(own) ? "" : word("unkept"));
  }

  // The open view's address, in the form of a stop
  function view() {
    insideBert.link.keep([]); // text typed a moment ago is not in the link yet
    const query = new URLSearchParams(location.search);
    for (const name of PASSING) query.delete(name);
    return `/${document.querySelector(".lesson").id.replace("lesson-", "")}?${query}`;
  }
  const seen = (node) => node.offsetHeight > 20 && node.checkVisibility();
  const elements = () => [...document.querySelectorAll("#lessons .block[id], #lessons .column[id]")].filter((node) => seen(node) && !/^(component|drawn|save)-/.test(node.id));
  const picture = () => elements().find((node) => node.matches(".picture"))?.id ?? "";
  const heading = () => ([...document.querySelectorAll(".parts [role=tab][aria-selected=true]")].find(seen) ?? document.querySelector(".lesson-heading h2")).textContent.trim();

  function fill(node, stop) {
    for (const field of node.querySelectorAll("[data-of]")) {
      const value = field.type === "checkbox" ? "checked" : "value";
      field[value] = stop[field.dataset.of] ?? "";
      field.oninput = () => {
        stop[field.dataset.of] = field[value];
        save();
      };
    }
    const link = node.querySelector("[data-view]");
    link.textContent = stop.view.split("?")[0] + (new URLSearchParams(stop.view.split("?")[1]).get("part") ? `: ${new URLSearchParams(stop.view.split("?")[1]).get("part")}` : "");
    link.href = `.${stop.view}`;
  }
  function show() {
    part("[data-title]").value = own.title;
    part("ol").replaceChildren(
      ...own.stops.map((stop, index) => {
        const node = part("template").content.firstElementChild.cloneNode(true);
        node.dataset.index = String(index);
        fill(node, stop);
        return node;
      }),
    );
    part("datalist").replaceChildren(...elements().map(({ id }) => Object.assign(document.createElement("option"), { value: id })));
  }

  const line = (text) => text.replace(/\s+/g, " ").trim();
  // Escapes the lines of a text that would begin a stop or its notes
  const inside = (text) => text.replace(/\r/g, "").replace(/^## /gm, "\\## ").replace(/^notes:/gm, " notes:").trim();
  const source = () =>
    `---\ntitle: ${JSON.stringify(line(own.title) || word("untitled"))}\n---\n${own.stops
      .map(({ title, view: leads, light, asks, text, notes }) => `\n## ${line(title) || "…"}\n\nview: ${leads}\n${line(light) ? `light: ${line(light)}\n` : ""}${asks ? "question: yes\n" : ""}\n${inside(text)}\n${notes.trim() ? `\nnotes: ${inside(notes)}\n` : ""}`)
      .join("")}`;

  // -> the tour as read by the server; undefined where it has a fault, which is shown
  async function checked(file, body) {
    if (body.size > MOST_BYTES) return void say(word("large"));
    const answer = await fetch(`./tours/read?file=${encodeURIComponent(file)}`, { method: "POST", body }).catch(() => undefined);
    if (!answer?.ok) return void say(word("offline"));
    const { tour, fault = "" } = await answer.json();
    say(fault);
    return tour;
  }
  const FILE = "my-tour.md";
  const blob = () => new Blob([source()], { type: "text/markdown" });

  const does = {
    add() {
      if (own.stops.length >= MOST_STOPS) return say(word("full"));
      own.stops.push({ title: heading(), view: view(), light: picture(), asks: false, text: "", notes: "" });
      save();
      show();
      part("li:last-child input").focus();
    },
    again(index) {
      Object.assign(own.stops[index], { view: view(), light: picture() });
      save();
      show();
    },
    remove(index) {
      own.stops.splice(index, 1);
      save();
      show();
    },
    up: (index) => does.move(index, index - 1),
    down: (index) => does.move(index, index + 1),
    move(from, to) {
      if (to < 0 || to >= own.stops.length) return;
      own.stops.splice(to, 0, ...own.stops.splice(from, 1));
      save();
      show();
      part(`li[data-index="${to}"] [data-do="${to < from ? "up" : "down"}"]`).focus();
    },
    async walk() {
      await reading;
      if (!own.stops.length) return say(word("empty"));
      const tour = await checked(FILE, blob());
      if (!tour) return;
      if (!keep({ ...own, tour })) return say(word("unkept"));
      close();
      const [first] = tour.stops;
      const query = new URLSearchParams(first.query);
      query.set("tour", NAME);
      query.set("stop", "1");
      location.assign(`./${first.lesson}?${query}`);
    },
    async download() {
      await reading;
      if (!own.stops.length) return say(word("empty"));
      insideBert.page.save(blob(), FILE);
      await checked(FILE, blob());
    },
    close,
  };
  async function opened(file) {
    const tour = await checked(file.name, file);
    if (!tour) return;
    own.title = tour.title;
    own.stops = tour.stops.map(({ title, lesson, query, light, asks, source: [text, notes] }) => ({ title, view: `/${lesson}?${query}`, light, asks, text, notes }));
    save();
    show();
  }

  editor.addEventListener("click", ({ target }) => {
    const name = target.closest("[data-do]")?.dataset.do;
    if (name) does[name](Number(target.closest("li")?.dataset.index));
  });
  editor.addEventListener("keydown", (event) => event.key === "Escape" && close());
  part("[data-title]").addEventListener("input", ({ target }) => {
    own.title = target.value;
    save();
  });
  part("[data-file]").addEventListener("change", ({ target }) => {
    if (target.files[0]) reading = opened(target.files[0]);
    target.value = ""; // the same file again, mended
  });
  show();
})();
