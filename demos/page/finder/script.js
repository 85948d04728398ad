// The finder: Ctrl K or / opens a box in which a few words find parts, questions, stops of tours and terms. The index is
// fetched when it is first opened; the search runs in the browser.
(() => {
  const { made } = insideBert.page;
  const WEIGHTS = { title: 5, also: 4, about: 3, where: 2, words: 1 }; // of a word, by the field of the entry
  const KINDS = { Part: 0.9, Lesson: 0.9, Term: 0.6, Help: 0.8 }; // of a score, by kind: a part has more words than others
  const NAMED = 2; // of a score, where the entry's title begins with the text
  const NEARLY = 0.5; // of the best entry's score: with less, a part does not replace its own question or stop
  const [SATURATION, LENGTH] = [4, 0.2]; // BM25's k1 and b
  const MOST = 12; // rows
  const PREFIX = 0.8; // of a word that only begins with the last one, which is still being typed
  const WORD = /[\p{L}\p{N}]+/gu;
  const ENDING = /(?:ations?|ings?|ies|ied|ed|es|s|ly)$/;
  const stem = (word) => (word.replace(ENDING, "").length >= 4 ? word.replace(ENDING, "") : word);
  const stems = (text) => (text.toLowerCase().match(WORD) ?? []).map(stem);

  let index; // a promise of {entries, lengths, places: word -> Map(entry's number -> its weight)}
  let dialog;
  let rows = []; // the entries that are shown
  let chosen = 0; // the number of the row that Enter opens

  function indexed(entries) {
    const places = new Map();
    const lengths = entries.map((entry, number) => {
      const own = new Map();
      for (const [field, weight] of Object.entries(WEIGHTS)) {
        for (const word of stems(entry[field] ?? "")) own.set(word, (own.get(word) ?? 0) + weight);
      }
      for (const [word, weight] of own) {
        if (!places.has(word)) places.set(word, new Map());
        places.get(word).set(number, weight);
      }
      return own.size;
    });
    // A part says more than a term: each is long or short beside its own kind.
    const means = {};
    for (const kind of new Set(entries.map((entry) => entry.kind))) {
      const own = lengths.filter((_, number) => entries[number].kind === kind);
      means[kind] = own.reduce((sum, length) => sum + length, 0) / own.length;
    }
    return { entries, places, lengths: lengths.map((length, number) => length / means[entries[number].kind]) };
  }

  function read() {
    index ??= fetch("./finder.json")
      .then((answer) => (answer.ok ? answer.json() : Promise.reject()))
      .then(indexed)
      .catch(() => (index = undefined));
    return index;
  }

  // The entries of a word: entry's number -> weight; for the last word also those of words that begin with it
  function found({ places }, word, isLast) {
    const weights = new Map(places.get(stem(word)) ?? []);
    if (!isLast || word.length < 2) return weights;
    for (const [other, entries] of places) {
      if (!other.startsWith(word)) continue;
      for (const [number, weight] of entries) weights.set(number, Math.max(weights.get(number) ?? 0, PREFIX * weight));
    }
    return weights;
  }

  // The entries that have most of the words, the best first; of each part only the best
  function ranked(of, text) {
    const words = [...new Set(text.toLowerCase().match(WORD) ?? [])];
    const scores = new Map();
    const had = new Map(); // the rarities of the words that an entry has
    let all = 0;
    for (const [at, word] of words.entries()) {
      const weights = found(of, word, at === words.length - 1 && !/\s$/.test(text));
      const rarity = Math.log(1 + (of.entries.length - weights.size + 0.5) / (weights.size + 0.5));
      if (weights.size) all += rarity;
      for (const [number, weight] of weights) {
        had.set(number, (had.get(number) ?? 0) + rarity);
        const long = SATURATION * (1 - LENGTH + LENGTH * of.lengths[number]);
        scores.set(number, (scores.get(number) ?? 0) + (rarity * weight * (SATURATION + 1)) / (weight + long));
      }
    }
    const wanted = text.trim().toLowerCase();
    const best = [...scores].map(([number, score]) => {
      const entry = of.entries[number];
      const kind = entry.title.toLowerCase().startsWith(wanted) ? NAMED : KINDS[entry.kind] ?? 1;
      return { entry, score: score * Math.sqrt(had.get(number) / all) * kind };
    });
    best.sort((one, other) => other.score - one.score);
    const places = new Map(); // lesson and part, term, or help -> its row: the part, or what has far more of the words
    for (const { entry, score } of best) {
      const place = entry.term ?? (entry.kind === "Help" ? entry.title : `${entry.lesson}/${entry.part}`);
      const before = places.get(place);
      if (!before) places.set(place, { entry, score });
      else if (entry.kind === "Part" && score >= NEARLY * before.score) before.entry = entry;
    }
    return [...places.values()].map(({ entry }) => entry);
  }

  const input = () => dialog.querySelector("input");
  const list = () => dialog.querySelector("[role=listbox]");

  function choose(number) {
    chosen = Math.max(0, Math.min(number, rows.length - 1));
    for (const [at, option] of [...list().children].entries()) option.setAttribute("aria-selected", String(at === chosen));
    input().setAttribute("aria-activedescendant", rows.length ? `finder-${chosen}` : "");
    list().children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  async function show() {
    const text = input().value;
    const of = await read();
    if (text !== input().value) return; // more was typed meanwhile
    const said = dialog.querySelector("[role=status]");
    if (!of) {
      said.textContent = "The index could not be fetched. Open the finder once more to try again.";
      return;
    }
    rows = text.trim() ? ranked(of, text).slice(0, MOST) : of.entries.filter(({ kind }) => kind === "Part" || kind === "Lesson");
    said.textContent = rows.length ? "" : "Nothing contains these words. Try fewer or different words.";
    list().replaceChildren(
      ...rows.map((entry, number) =>
        made(
          "li",
          { role: "option", id: `finder-${number}`, className: entry.kind === "Help" ? "help" : "", onclick: () => open(entry), onmousemove: () => chosen !== number && choose(number) },
          made("b", { textContent: entry.title }),
          made("small", { textContent: [entry.kind, entry.where].filter(Boolean).join(" · ") }),
          made("span", { textContent: entry.about }),
        ),
      ),
    );
    input().setAttribute("aria-expanded", String(rows.length > 0));
    choose(0);
  }

  // A link into a lesson carries the sentence of the bar (demos/page/link.js), once it is pressed.
  function follow({ lesson, part }) {
    const link = made("a", { href: `./${lesson}` });
    link.dataset.lesson = lesson;
    if (part) link.dataset.choices = JSON.stringify({ part });
    link.addEventListener("click", () => {
      const query = new URLSearchParams(link.search);
      for (const name of ["tour", "review", "stop"]) query.delete(name); // which it leads out of
      link.search = query.toString();
    });
    document.body.append(link);
    link.click();
    link.remove();
  }

  function open(entry) {
    dialog.close();
    const { kind, lesson, part, term, tour, stop, query, press } = entry;
    const tab = document.getElementById(`${lesson}-${part}-button`);
    if (kind === "Help") press && document.querySelector(press)?.click(); // its row has said the rest
    else if (term) window.open(`./glossary#${term}`, "_blank", "noopener");
    else if (tour) location.assign(insideBert.tour.address("tour", tour, stop, { lesson, query }));
    else if (kind === "Question") location.assign(insideBert.yourQuestions.review.address(part ? `${lesson}/${part}` : lesson));
    else if (tab) tab.click(); // a part of this page
    else if (part || !document.getElementById(`lesson-${lesson}`)) follow(entry);
  }

  function pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
    if (step) choose(chosen + step);
    else if (event.key === "Enter" && !event.isComposing && rows[chosen]) open(rows[chosen]);
    else if (event.key === "Escape" && !event.isComposing) dialog.close(); // at once, where a search field would be emptied first
    else return;
    event.preventDefault();
  }

  function build() {
    dialog = made("dialog", { id: "finder" });
    dialog.setAttribute("aria-label", "Find");
    const field = made("input", { type: "search", placeholder: "A part, a question, a tour, a term", oninput: show, onkeydown: pressed, maxLength: 200, autocomplete: "off", spellcheck: false });
    for (const [name, value] of Object.entries({ role: "combobox", "aria-label": "Find a part, a question, a tour or a term", "aria-controls": "finder-list", "aria-expanded": "false", "aria-autocomplete": "list" })) field.setAttribute(name, value);
    const rowsList = made("ul", { id: "finder-list", role: "listbox" });
    rowsList.setAttribute("aria-label", "Found");
    dialog.append(made("div", { className: "box" }, field, made("button", { type: "button", textContent: "Close", onclick: () => dialog.close() })), made("p", { role: "status" }), rowsList);
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // beside the box
    document.body.append(dialog);
  }

  insideBert.finder = {
    open() {
      if (!dialog) build();
      if (dialog.open) return;
      dialog.showModal();
      input().select();
      show();
    },
    // The entries that a text finds, the best first
    find: async (text) => ranked(await read(), text),
  };

  // The letter works where no field has the focus, and can be switched off with the presenter's (WCAG 2.1.4).
  // Heard before a question's card, which keeps the keys that are pressed in it to itself.
  function asked(event) {
    if (event.isComposing || event.altKey) return;
    const isWithControl = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const isLetter = event.key === "/" && !event.ctrlKey && !event.metaKey && insideBert.presenting.takesLetters(event);
    if (!isWithControl && !isLetter) return;
    event.preventDefault();
    insideBert.finder.open();
  }
  document.addEventListener("keydown", asked, true);
  document.addEventListener("click", ({ target }) => target.closest?.("#finder-button") && insideBert.finder.open());
})();
