// The link and what it carries, in the browser: the sentence, the lesson, its choices; which lesson redraws; type and theme.
// The bar and the lessons call these by name from gradio events (demos/page/bar.py); nothing here fetches anything.
(() => {
  const STORE = "inside-bert";
  const TAB = "inside-bert-tab";
  const LONGEST_LINK = 6000; // a longer one is refused by servers on reload; what is cut then lives in this tab only
  const CUT = "cut"; // in the link: the names of what was too long for it
  const REST = 200; // milliseconds without a key press before a model runs
  const state = { text: "", pair: "", model: "", inUse: "", lesson: "", choices: {} };
  const defaults = {}; // lesson -> choice -> its default, as the link would say it
  let presses = 0;
  let restored = false; // nothing is written to the link before it has been read
  let stamps = 0;
  let wantsDark; // undefined: as gradio and the system say

  const stamp = () => `${Date.now()}-${++stamps}`;

  // A tick tells a lesson or a part to redraw by changing, and it changes only when there is something new to draw: the
  // bar, or an opening. What happens at once when a lesson opens (its tab, its first part's tab, the bar) is one draw.
  const ticks = {}; // name -> what it was stamped for, and the stamp
  const openings = {}; // lesson, or lesson/part -> how often it was turned to
  const parts = {}; // lesson -> its open part
  let passed = ""; // the first lesson, which gradio opens before the one that the link names: not drawn
  const last = (name) => ticks[name]?.stamp ?? "";
  function tick(name, ...now) {
    const said = JSON.stringify(now);
    if (ticks[name]?.said !== said) ticks[name] = { said, stamp: stamp() };
    return last(name);
  }
  const told = (kind, lesson) => tick(`${kind} ${lesson}`, state.text, state.pair, state.inUse, openings[lesson]);
  function partTold(lesson, part) {
    const [name, own] = [`${lesson}/${part}`, last(`settled ${lesson}`)];
    return own ? tick(name, own, openings[name]) : last(name); // before the lesson's own tick, nothing is to be drawn
  }
  const shared = {}; // lesson -> choice -> its value when the lesson's parts last heard of it
  const due = new Set(); // handlers
  const heard = {}; // handler -> what it was asked last
  const count = (name) => (openings[name] = (openings[name] ?? 0) + 1);
  const remembered = () => {
    try {
      return JSON.parse(localStorage.getItem(STORE)) || {};
    } catch {
      return {};
    }
  };
  const remember = (changes) => {
    try {
      localStorage.setItem(STORE, JSON.stringify({ ...remembered(), ...changes }));
    } catch {
      // private windows refuse storage: the link still carries everything
    }
  };

  // The reader's own key and this tab's, by which runs are found again: drawn once, told to nobody but the server.
  function drawnKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
  }
  function pageKey({ reader = drawnKey() }) {
    remember({ reader });
    let tab = drawnKey();
    try {
      tab = sessionStorage.getItem(TAB) || tab;
      sessionStorage.setItem(TAB, tab);
    } catch {
      // private windows refuse storage: then a reload begins anew
    }
    return `${reader}/${tab}`;
  }

  // What was too long for the link stays in this tab, under that very link, so that a reload brings it back.
  function holdHere(link, cut) {
    try {
      if (cut.length) sessionStorage.setItem(STORE, JSON.stringify({ link, values: Object.fromEntries(cut) }));
      else sessionStorage.removeItem(STORE);
    } catch {
      // private windows refuse storage: the notice still says what is missing
    }
  }
  function heldHere(link) {
    try {
      const held = JSON.parse(sessionStorage.getItem(STORE));
      return held?.link === link ? held.values : {};
    } catch {
      return {};
    }
  }
  let missing = []; // names of what the link came without, until the reader changes what that is about
  let arrived;
  const NAMES = { text: "the sentence", pair: "the second sentence" };
  function tellCut(cut) {
    const now = JSON.stringify([state.text, state.pair, state.lesson, missing.map((name) => state.choices[state.lesson]?.[name])]);
    if (now !== (arrived ??= now)) missing = [];
    const what = (names) => [...new Set(names.map((name) => (Object.hasOwn(NAMES, name) ? NAMES[name] : "a text of this lesson")))].join(" and ");
    let told = missing.length ? `This link came without ${what(missing)}, which was too long for it.` : "";
    if (cut.length) told = `Too long for the link: ${what(cut)}. A reload of this tab keeps it; the link alone opens without it.`;
    const notice = document.querySelector("#bar-link p");
    if (!notice || notice.textContent === told) return;
    notice.textContent = told;
    notice.hidden = !told;
    notice.classList.toggle("notice", Boolean(told));
  }

  function writeLink() {
    if (!restored) return;
    const link = new URLSearchParams();
    for (const name of ["text", "pair", "model", "lesson"]) if (state[name]) link.set(name, state[name]);
    for (const [name, value] of Object.entries(state.choices[state.lesson] || {})) {
      const said = typeof value === "string" ? value : JSON.stringify(value);
      if (said !== defaults[state.lesson]?.[name]) link.set(name, said); // a default needs no saying
    }
    const cut = [];
    for (const [name, said] of [...link].sort((a, b) => b[1].length - a[1].length)) {
      if (link.toString().length <= LONGEST_LINK) break;
      link.delete(name); // the longest go first
      cut.push([name, said]);
    }
    const names = cut.map(([name]) => name);
    if (cut.length) link.set(CUT, names.join(","));
    const theme = new URLSearchParams(location.search).get("__theme");
    if (theme) link.set("__theme", theme);
    history.replaceState(null, "", `?${link}${location.hash}`);
    holdHere(location.search, cut);
    tellCut(names);
    // On a Space the page lives in a frame: this is how the address bar outside follows (Spaces' documented message).
    if (window.parent !== window) window.parent.postMessage({ queryString: link.toString() }, "https://huggingface.co");
    const short = (name) => (names.includes(name) ? undefined : state[name]); // the next visit begins with no long text
    remember({ text: short("text"), pair: short("pair"), model: state.model });
  }

  // A choice from the link counts only where it has the default's type and is on offer.
  function allowed(value, choice) {
    if (typeof value !== typeof choice.value || Array.isArray(value) !== Array.isArray(choice.value)) return false;
    if (value < choice.minimum || value > choice.maximum) return false; // undefined where nothing bounds it
    if (choice.step === 1 && !Number.isInteger(value)) return false;
    if (!choice.offers) return true;
    return (Array.isArray(value) ? value : [value]).every((one) => choice.offers.includes(one));
  }

  const insideBert = {
    // -> [text, pair, asked model, tabs, the page's key, the same if they trained before, ...every kept choice in order]
    restore(first, lessons, kept) {
      const link = new URLSearchParams(location.search);
      const before = remembered();
      const key = pageKey(before);
      remember({ trained: false }); // until the server gives the runs back
      const here = heldHere(location.search);
      for (const name of (link.get(CUT) || "").split(",").filter(Boolean)) {
        if (Object.hasOwn(here, name)) link.set(name, here[name]);
        else missing.push(name);
      }
      const fromLink = ["text", "pair", "model", "lesson"].some((name) => link.has(name));
      const hasText = link.has("text") || link.has("pair") || missing.some((name) => Object.hasOwn(NAMES, name));
      state.text = hasText ? link.get("text") || "" : before.text ?? first.text;
      state.pair = hasText ? link.get("pair") || "" : before.pair ?? first.pair;
      state.model = link.get("model") || (fromLink ? "" : before.model) || "";
      state.lesson = lessons.includes(link.get("lesson")) ? link.get("lesson") : lessons[0];
      const values = kept.map((choice) => {
        let value = choice.value;
        if (choice.lesson === state.lesson && link.has(choice.name)) {
          try {
            let said = link.get(choice.name);
            if (Object.hasOwn(choice.former || {}, said)) said = choice.former[said]; // a link of an earlier version
            const asked = typeof choice.value === "string" ? said : JSON.parse(said);
            if (allowed(asked, choice)) value = asked;
          } catch {
            // not ours: the default stands
          }
        }
        (defaults[choice.lesson] ||= {})[choice.name] =
          typeof choice.value === "string" ? choice.value : JSON.stringify(choice.value);
        (state.choices[choice.lesson] ||= {})[choice.name] = value;
        (shared[choice.lesson] ||= {})[choice.name] = value;
        if (choice.name === "part") parts[choice.lesson] = value;
        return value === choice.value ? undefined : value; // it stands there already, and Gradio looks for each component anew
      });
      restored = true;
      passed = state.lesson === lessons[0] ? "" : lessons[0];
      return [state.text, state.pair, state.model, { __type__: "update", selected: state.lesson }, key, before.trained ? key : "", ...values];
    },

    // A lesson's tab was opened: -> its two ticks
    open(lesson, inUse) {
      const shown = lesson !== passed;
      passed = "";
      if (shown) {
        state.inUse = inUse;
        if (lesson !== state.lesson) count(lesson);
        state.lesson = lesson;
        writeLink();
        told("typed", lesson);
        told("settled", lesson);
      }
      return [last(`typed ${lesson}`), last(`settled ${lesson}`)];
    },

    // Tell the open lesson, and only that one, to redraw: at once (typed) and after a rest (settled).
    typed(lessons, text, pair, inUse) {
      [state.text, state.pair, state.inUse] = [text ?? "", pair ?? "", inUse];
      told("typed", state.lesson);
      return lessons.map((lesson) => last(`typed ${lesson}`));
    },

    async settled(lessons, model) {
      const press = ++presses;
      await new Promise((resolve) => setTimeout(resolve, REST));
      if (press === presses) {
        state.inUse = model;
        state.model = model || state.model;
        writeLink();
        told("settled", state.lesson);
      }
      return lessons.map((lesson) => last(`settled ${lesson}`));
    },

    // A part of a lesson was opened: -> [its name, its tick]
    openPart(lesson, part) {
      if (part !== parts[lesson]) count(`${lesson}/${part}`);
      parts[lesson] = part;
      return [part, partTold(lesson, part)];
    },

    // The lesson should redraw, or a choice that its parts share has moved: tell its open part, and only that one.
    // `names` and `values` are choices that say that they changed when the link fills them too.
    settledPart(lesson, slugs, moved, names, ...values) {
      const known = (shared[lesson] ||= {});
      const changed = names.filter((name, index) => known[name] !== values[index]);
      names.forEach((name, index) => (known[name] = values[index]));
      if (moved || changed.length) count(`${lesson}/${parts[lesson]}`);
      partTold(lesson, parts[lesson]);
      return slugs.map((part) => last(`${lesson}/${part}`));
    },

    // A reader moved something that this handler listens to: whatever the values are, it is to be asked.
    moved(handler) {
      due.add(handler);
    },

    // Something changed that this handler listens to; the first of `values` is its tick. What it was asked already, or
    // will be asked once its lesson opens, ends here: a promise that is never kept, for gradio has no other way.
    heard(handler, values) {
      const said = JSON.stringify(values);
      const asked = due.delete(handler) || (values[0] && said !== heard[handler]);
      if (!asked) return new Promise(() => {});
      heard[handler] = said;
    },

    keep(lesson, names, ...values) {
      names.forEach((name, index) => ((state.choices[lesson] ||= {})[name] = values[index]));
      writeLink();
    },

    // This reader has runs: the next visit asks for them.
    trained() {
      remember({ trained: true });
    },

    largeType(on = !document.documentElement.classList.contains("large-type")) {
      document.documentElement.classList.toggle("large-type", on);
      remember({ large: on });
      window.dispatchEvent(new Event("resize")); // Plotly and the frames measure again
      return on;
    },

    dark(on = !document.body.classList.contains("dark")) {
      wantsDark = on;
      document.body.classList.toggle("dark", on);
      remember({ dark: on });
      return on;
    },
  };
  window.insideBert = insideBert;

  const before = remembered();
  if (before.large) document.documentElement.classList.add("large-type");
  if (!new URLSearchParams(location.search).has("__theme")) wantsDark = before.dark;
  // gradio sets its own class while it mounts; what the reader chose here before wins
  function insist() {
    if (wantsDark !== undefined && document.body.classList.contains("dark") !== wantsDark) {
      document.body.classList.toggle("dark", wantsDark);
    }
  }
  function watch() {
    new MutationObserver(insist).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    insist();
  }
  if (document.body) watch();
  else document.addEventListener("DOMContentLoaded", watch);
})();
