// The link and what it carries, in the browser: the sentence, the lesson and its choices.
// The bar and the lessons call these by name from gradio events (demos/page/bar.py).
(() => {
  const { ticks } = insideBert;
  const { LONGEST_LINK, remember, remembered, pageKey, hold, held } = insideBert.kept;
  // in the link: what is not the bar's and no choice, and stays
  const LASTING = new Set(["__theme", "tour", "review", "stop", "present", "questions"]);
  const CUT = "cut"; // in the link: the names of what was too long for it
  const LONG = "inside-bert-long"; // in this tab: lesson and query -> what was too long for it
  const LESSONS = "inside-bert-lessons"; // in this tab: lesson -> the choices made there
  const BEGUN = "inside-bert-begun"; // in this tab: part -> whether a run was begun there
  const FILES = "inside-bert-files"; // in this tab: lesson -> when files were picked there, and what Gradio knows of them
  const FILES_KEPT = 3_600_000; // milliseconds; the server keeps them for longer
  const REST = 200; // milliseconds without a key press before a model runs
  const state = { text: "", pair: "", model: "", inUse: "", lesson: "", choices: {} };
  const LEADS = ["fold", "at"]; // in the link: the fold or the element that this view begins at
  let leads = []; // those of this view, each with its name, until the reader turns to another part
  const defaults = {}; // choice -> a function: its default beside the other choices, as the link would say it
  const firsts = {}; // choice -> the number that it shows for the link's 0: layers and heads are counted from 1
  let presses = 0;
  let restored = false; // nothing is written to the link before it has been read
  let asksFirst = false; // each part its question
  const leadsOf = (link) => LEADS.filter((name) => link.get(name)).map((name) => [name, link.get(name)]);
  const KNOWN = ["text", "pair", "model", "lesson", "room", ...LEADS, CUT]; // in the link beside what is above and a lesson's choices
  const FOREIGN = /^(__|utm_)|^(fbclid|gclid|logs)$/; // in the link: what a Space or another site adds
  const ITS_OWN = ["__theme", "present", "questions"]; // in the link: how this reader's page looks, which no other view changes
  const STOP = ["tour", "review", "stop"]; // in the link: another value of these is shown by a separate page
  let offers = []; // the lesson's choices, as `restore` received them
  let arriving; // the link of a view that this page is about to show, until it is taken
  let firstView; // the view that was sent with the page: text, pair, model; properties of components; inputs of their handlers
  let arrivals = 0; // how many views with other choices this page was made to show

  // A reader's own run as a link may name it: what comes after the space is for this browser and the server alone
  const named = (model) => (model ?? "").split(" ")[0];
  // The same name in the form for the server: a member of a room may open the room's
  const asking = (model) => (model?.startsWith("your-run-") ? `${model} ${window.insideBertRoom?.pass ?? ""}`.trim() : model);

  const told = (kind) => ticks.tick(kind, state.text, state.pair, state.inUse, arrivals);
  function filesHeld(lesson, count) {
    const { at, values } = held(FILES, lesson) ?? {};
    const kept = Date.now() - at < FILES_KEPT && Array.isArray(values) ? values : [];
    return Array.from({ length: count }, (_, index) => (typeof kept[index]?.path === "string" ? kept[index] : undefined));
  }
  let missing = []; // names of what the link came without, until the reader changes what that is about
  let unknown = []; // names in the link that nothing here has, until the reader changes the sentence
  let arrived;
  const NAMES = { text: "the sentence", pair: "the second sentence" };
  function tellCut(cut) {
    const now = JSON.stringify([state.text, state.pair, missing.map((name) => state.choices[name])]);
    if (now !== (arrived ??= now)) missing = unknown = [];
    const what = (names) => [...new Set(names.map((name) => (Object.hasOwn(NAMES, name) ? NAMES[name] : "a text of this lesson")))].join(" and ");
    let told = missing.length ? `This link came without ${what(missing)}, which was too long for it.` : "";
    if (cut.length) told = `Too long for the link: ${what(cut)}. It stays when you reload this tab, but the link alone opens without it.`;
    if (unknown.length) told = `${told} Not understood in this link: ${unknown.slice(0, 5).map((name) => name.slice(0, 40)).join(", ")}.`.trim();
    const notice = document.querySelector("#bar-link p");
    if (!notice || notice.textContent === told) return;
    notice.textContent = told;
    notice.hidden = !told;
    notice.classList.toggle("notice", Boolean(told));
  }

  function notUnderstood(link) {
    const names = new Set([...KNOWN, ...LASTING, ...offers.flatMap(({ name, zero }) => [name, zero])]);
    const keys = [...new Set(link.keys())].filter((name) => name && !names.has(name) && !FOREIGN.test(name));
    return [...keys, ...(link.has("review") ? insideBert.yourQuestions.review.unknown : [])];
  }

  const shifted = (value, by = 0) => (by && typeof value === "number" ? value + by : value);
  function inLink(name, value) {
    if (typeof value === "string") return value;
    return JSON.stringify(shifted(value, -(firsts[name] ?? 0)));
  }

  // The choices of the open lesson that are no defaults, as a query says them: a default needs no saying
  const isSaid = (name) => name in state.choices && inLink(name, state.choices[name]) !== defaults[name]?.();
  function chosen() {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(state.choices)) if (isSaid(name)) query.set(name, inLink(name, value));
    return query;
  }

  // -> [the query of the link to a lesson, the names of values too long for it]; those stay in this tab, under that link
  /** @returns {[string, string[]]} */
  function linkTo(lesson, choices) {
    const link = new URLSearchParams();
    for (const name of ["text", "pair", "model"]) if (state[name]) link.set(name, state[name]);
    for (const [name, said] of choices) link.set(name, said);
    const cut = {};
    for (const [name, said] of [...link].sort((a, b) => b[1].length - a[1].length)) {
      if (link.toString().length <= LONGEST_LINK) break;
      link.delete(name); // the longest go first
      cut[name] = said;
    }
    const names = Object.keys(cut);
    if (names.length) link.set(CUT, names.join(","));
    for (const [name, said] of new URLSearchParams(location.search)) if (LASTING.has(name)) link.set(name, said);
    if (lesson === state.lesson) for (const [name, said] of leads) link.set(name, said);
    if (asksFirst) link.set("questions", "1");
    else link.delete("questions");
    const address = `${lesson}?${link}`;
    if (names.length || held(LONG, address)) hold(LONG, address, names.length ? cut : undefined);
    return [link.toString(), names];
  }

  // A link that is written after this page began to be left calls that off: none is, until the reader goes on here.
  let leaving = false;
  for (const kind of ["beforeunload", "pagehide"]) window.addEventListener(kind, () => (leaving = true));
  for (const kind of ["pageshow", "input", "click"]) window.addEventListener(kind, ({ isTrusted }) => isTrusted && (leaving = false), true);

  function writeLink() {
    if (!restored || leaving) return;
    const choices = chosen();
    const [link, cut] = linkTo(state.lesson, choices);
    history.replaceState(null, "", `${location.pathname}?${link}${location.hash}`);
    hold(LESSONS, state.lesson, choices.toString()); // the way back to this lesson finds its choices
    tellCut(cut);
    // On a Space the page lives in a frame: this is how the address bar outside follows (Spaces' documented message).
    if (window.parent !== window) window.parent.postMessage({ queryString: `lesson=${state.lesson}&${link}` }, "https://huggingface.co");
    const short = (name) => (cut.includes(name) ? undefined : state[name]); // the next visit begins with no long text
    remember({ text: short("text"), pair: short("pair"), model: state.model });
    tellView();
  }

  // Notifies the listeners of the view: its sentence, its part or a choice has changed.
  const tellView = () => document.dispatchEvent(new Event("inside-bert-view"));

  // While the connection is lost Gradio passes nothing on: the text typed then is still put in the link before Gradio reloads
  // the page.
  let typed = {}; // the bar's values that are not in the link yet
  let writing;
  function writeTyped() {
    clearTimeout(writing);
    const isNew = Object.entries(typed).some(([name, value]) => state[name] !== value);
    Object.assign(state, typed);
    typed = {};
    if (isNew) writeLink();
  }
  document.addEventListener("input", ({ target }) => {
    const name = { "bar-text": "text", "bar-pair": "pair" }[target.closest?.("#bar-text, #bar-pair")?.id];
    if (!name || !restored) return;
    clearTimeout(writing);
    typed[name] = target.value;
    writing = setTimeout(writeTyped, 2 * REST);
  });

  // The links to the other lessons carry what the bar holds now, and the choices that this tab made there.
  for (const kind of ["click", "auxclick", "contextmenu"]) {
    document.addEventListener(
      kind,
      ({ target }) => {
        const link = target.closest?.("a[data-lesson], #tour a, #your-questions a");
        if (!link || !restored) return;
        writeLink(); // for the way back, and for a tour: what was typed a moment ago is not in it yet
        if (!link.dataset.lesson) return; // a tour's link says itself where it leads
        const { lesson, choices } = link.dataset; // a link into a lesson may say what it opens at
        [link.search] = linkTo(lesson, new URLSearchParams(choices ? JSON.parse(choices) : held(LESSONS, lesson)));
      },
      true,
    );
  }

  // The bar's first values: the link's, those that this browser remembers, or the page's
  function linked(link, before, first) {
    const fromLink = ["text", "pair", "model"].some((name) => link.has(name));
    const hasText = link.has("text") || link.has("pair") || missing.some((name) => Object.hasOwn(NAMES, name));
    return {
      text: hasText ? link.get("text") || "" : before.text ?? first.text,
      pair: hasText ? link.get("pair") || "" : before.pair ?? first.pair,
      model: link.get("model") || (fromLink ? "" : before.model) || "",
    };
  }

  // If the page opens at the view that was sent with it, that view is inserted before Gradio builds the page.
  function putIn() {
    const components = window.gradio_config?.components ?? [];
    const place = components.find(({ props }) => props.elem_id === "first-view");
    if (!place?.props.value) return; // the model was not there yet
    firstView = JSON.parse(place.props.value);
    place.props.value = "";
    const link = new URLSearchParams(location.search);
    const { text, pair, model } = linked(link, remembered(), firstView);
    const isChosen = [...link.keys()].some((name) => !LASTING.has(name) && !["text", "pair", "model", "lesson", ...LEADS].includes(name));
    if (isChosen || text !== firstView.text || pair !== firstView.pair || (model || firstView.model) !== firstView.model) return;
    ticks.cameWith(firstView.inputs);
    for (const component of components) Object.assign(component.props, firstView.properties[component.id]);
    insideBert.limits.applyFirst(components);
  }
  putIn();

  // A choice from the link counts only where it has the default's type and is on offer.
  function allowed(value, choice) {
    if (typeof value !== typeof choice.value || Array.isArray(value) !== Array.isArray(choice.value)) return false;
    if (value < choice.minimum || value > choice.maximum) return false; // undefined where nothing bounds it
    if (choice.step === 1 && !Number.isInteger(value)) return false;
    if (!choice.offers) return true;
    return (Array.isArray(value) ? value : [value]).every((one) => choice.offers.includes(one));
  }

  // The value of a choice that a link leaves out: a fold is open where the link sets a choice in it, and the value of
  // another choice, by `said`, may decide it
  function byDefault(choice, said, isSet) {
    if (choice.holds?.some(isSet)) return true;
    for (const [other, brought] of choice.follows ?? []) if (Object.hasOwn(brought, said(other) ?? "")) return brought[said(other)];
    return choice.value;
  }

  // A choice's value in a link, or its default
  function saidBy(link, choice) {
    if (!link.has(choice.name)) {
      if (!choice.zero || !link.has(choice.zero)) return byDefault(choice, (other) => link.get(other), (name) => link.has(name));
      return link.get(choice.zero).replace(/\d+/g, (number) => Number(number) + 1); // layers and heads once began at 0
    }
    try {
      let said = link.get(choice.name);
      if (Object.hasOwn(choice.former || {}, said)) said = choice.former[said]; // a link of an earlier version
      const asked = typeof choice.value === "string" ? said : shifted(JSON.parse(said), choice.first);
      return allowed(asked, choice) ? asked : choice.value;
    } catch {
      return choice.value; // not ours
    }
  }

  insideBert.link = {
    // Gradio's step when the server answers again (demos/page/patches/patches.py). A link that is written after the
    // request for a reload would cancel it; and nothing more can be typed that would be lost.
    loadAnew() {
      writeTyped();
      restored = false;
      for (const field of document.querySelectorAll("#bar-text textarea, #bar-pair textarea")) field.readOnly = true;
      if (arriving) location.replace(`./${encodeURIComponent(state.lesson)}?${arriving}`);
      else location.reload();
    },

    // -> [text, pair, model, the page's key, the same if they trained before, ...every kept choice in order, ...files]
    restore(first, lesson, kept, files) {
      const link = new URLSearchParams(location.search);
      const before = remembered();
      const key = pageKey(before);
      const here = held(LONG, lesson + location.search) ?? {};
      for (const name of (link.get(CUT) || "").split(",").filter(Boolean)) {
        if (Object.hasOwn(here, name)) link.set(name, here[name]);
        else missing.push(name);
      }
      Object.assign(state, linked(link, before, first));
      state.lesson = lesson;
      leads = leadsOf(link);
      const values = kept.map((choice) => {
        const value = saidBy(link, choice);
        firsts[choice.name] = choice.first;
        defaults[choice.name] = () => inLink(choice.name, byDefault(choice, (other) => state.choices[other], isSaid));
        state.choices[choice.name] = value;
        ticks.know(choice.name, value);
        if (choice.name === "part") ticks.opensAt(value, choice.value);
        return value === choice.value ? undefined : value; // it is set already, and Gradio searches each component again
      });
      offers = kept;
      unknown = notUnderstood(link);
      restored = true;
      return [state.text, state.pair, asking(state.model), key, before.trained ? key : "", ...values, ...filesHeld(lesson, files)];
    },

    // This page's address when it shows what its link says: {lesson, query}; undefined before
    place: () => (restored && state.lesson ? { lesson: state.lesson, query: location.search.slice(1) } : undefined),

    // The same of an address of a lesson, without what is this reader's own; undefined of one that says too little
    placeOf({ origin, pathname, search }) {
      const link = new URLSearchParams(search);
      if (!restored || origin !== location.origin || !link.has("model")) return undefined;
      const links = [...document.querySelectorAll("#lesson-links a[data-lesson]")];
      const lesson = links.find((one) => one.pathname === pathname)?.dataset.lesson;
      for (const name of ITS_OWN) link.delete(name);
      if (link.get("tour") === insideBert.ownTour.NAME) for (const name of STOP) link.delete(name); // which this browser alone has
      return lesson && { lesson, query: link.toString() };
    },

    // Show another view: in this page where it is the same lesson at the same stop, else by its address
    goTo(lesson, query) {
      const link = new URLSearchParams(query);
      const here = new URLSearchParams(location.search);
      for (const name of ITS_OWN) {
        link.delete(name);
        if (here.has(name)) link.set(name, here.get(name));
      }
      if (!this.arrive || lesson !== state.lesson || STOP.some((name) => link.get(name) !== here.get(name))) {
        location.assign(`./${encodeURIComponent(lesson)}?${link}`);
        return;
      }
      arriving = link;
      this.arrive();
    },

    // -> [text, pair, model, ...every kept choice in order] of the view that is to be shown; values already set are left
    takeView() {
      const before = { text: state.text, pair: state.pair };
      missing = (arriving.get(CUT) || "").split(",").filter(Boolean);
      unknown = notUnderstood(arriving);
      arrived = undefined; // missing things are reported until something changes
      Object.assign(state, linked(arriving, {}, { text: "", pair: "" }));
      for (const name of missing) if (Object.hasOwn(before, name)) state[name] = before[name];
      let turned = false;
      let moved = false;
      const values = offers.map((choice) => {
        const value = saidBy(arriving, choice);
        if (JSON.stringify(value) === JSON.stringify(state.choices[choice.name])) return undefined;
        state.choices[choice.name] = value;
        ticks.know(choice.name, value);
        moved = true;
        if (choice.name === "part") {
          turned = true;
          ticks.turnTo(value);
        }
        return value;
      });
      if (moved && !turned) arrivals += 1;
      leads = leadsOf(arriving);
      arriving = undefined;
      this.lead(state.lesson, state.choices.part, leads);
      const changed = (name) => (state[name] === before[name] ? undefined : state[name]);
      return [changed("text"), changed("pair"), asking(state.model), ...values];
    },

    // The page shows what its link says: -> its two ticks
    opened(text, pair, inUse) {
      [state.text, state.pair, state.inUse] = [text ?? "", pair ?? "", inUse];
      state.model ||= named(inUse); // another requested model is on its way
      writeLink();
      this.lead(state.lesson, state.choices.part, leads);
      return [told("typed"), told("settled")];
    },

    // Redraw the lesson: at once (typed) and after a rest (settled).
    typed(text, pair, inUse) {
      [state.text, state.pair, state.inUse] = [text ?? "", pair ?? "", inUse];
      return told("typed");
    },

    async settled(model) {
      const press = ++presses;
      await new Promise((resolve) => setTimeout(resolve, REST));
      if (press === presses) {
        state.inUse = model;
        state.model = named(model) || state.model;
        writeLink();
        told("settled");
      }
      return ticks.last("settled");
    },

    // A model other than the one in use is requested, or it may still be loading; else nothing is to be done.
    begins(asked, inUse) {
      if (firstView && (!asked || named(asked) === named(inUse))) throw ticks.ENOUGH;
    },

    // The same for a page that has been open for a while.
    asks(asked, inUse) {
      if (!asked || named(asked) === named(inUse)) throw ticks.ENOUGH;
    },

    // A sentence from elsewhere in the page, put into the bar
    say(sentence) {
      if (!this.arrive) return;
      arriving = new URLSearchParams({ ...Object.fromEntries(chosen()), text: sentence, model: state.model });
      this.arrive();
    },

    // Another model for what the page shows, as if it were picked in the menu
    useModel(model) {
      if (!this.arrive) return;
      arriving = new URLSearchParams({ ...Object.fromEntries(chosen()), text: state.text, pair: state.pair, model });
      this.arrive();
    },

    // A model is picked in the menu.
    picks: (model, ...others) => [asking(model), ...others],

    // The requested model is here, or could not be loaded.
    begun(inUse) {
      state.model = named(inUse);
      writeLink();
    },

    // The files that a reader has picked in this lesson: a way back, or a reload, finds them picked.
    holdFiles(...values) {
      if (restored) hold(FILES, state.lesson, { at: Date.now(), values });
    },

    // Open another view whose lesson's first picker holds this file, as if a reader had picked it there -> whether it could be
    async openWithFile(lesson, choices, file) {
      const body = new FormData();
      body.append("files", file);
      const answer = await fetch("./gradio_api/upload", { method: "POST", body }).catch(() => undefined);
      if (!answer?.ok) return false;
      const [path] = await answer.json();
      const url = new URL(`./gradio_api/file=${path}`, location.href).href;
      const picked = { path, url, orig_name: file.name, size: file.size, mime_type: file.type, meta: { _type: "gradio.FileData" } };
      hold(FILES, lesson, { at: Date.now(), values: [picked] });
      location.assign(`./${lesson}?${linkTo(lesson, Object.entries(choices))[0]}`);
      return true;
    },

    // Put into the link what the page shows now
    write: writeLink,

    // A choice has this value now.
    keep(name, value) {
      if (name === "part" && value !== state.choices.part) leads = [];
      state.choices[name] = value;
      writeLink();
    },

    // This tab has begun a run in a part: after a reload it requests the run; else it sends nothing.
    began(part) {
      hold(BEGUN, part, true);
    },
    resumes(part) {
      if (!held(BEGUN, part)) throw ticks.ENOUGH;
    },

    // Whether this reader has runs: the next page requests them.
    trained(now) {
      remember({ trained: now });
    },

    // The page's state: the sentence, the model in use, the lesson and its choices
    view: () => ({ ...state, inUse: named(state.inUse), choices: { ...state.choices } }),

    // Whether each part asks its question first; a link overrides what this browser remembers
    questionsOn: () => asksFirst,
    askFirst(on = !asksFirst) {
      asksFirst = on;
      remember({ questions: on });
      writeLink();
      return on;
    },
  };

  const before = remembered();
  const said = new URLSearchParams(location.search).get("questions");
  asksFirst = said === null ? before.questions === true : said === "1";
})();
