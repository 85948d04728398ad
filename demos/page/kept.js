// Keeps values in this browser for the reader's next visit, and in this tab for a reload and the Back button.
// What the page's scripts share: an object a script, or a purpose (inside_bert.d.ts lists them). Several scripts fill these.
window.insideBert = /** @type {any} */ ({ grids: { looks: {} }, maps: { chosen: {}, choose: {} }, picked: {}, pictures: {}, plots: {}, yourQuestions: {} });
insideBert.kept = (() => {
  const STORE = "inside-bert"; // in this browser
  const TAB = "inside-bert-tab"; // in this tab: its key
  const LONGEST_LINK = 6000; // a longer one is refused by servers on reload; nothing longer is kept for the next visit either
  const MOST_HELD = 12;

  // Another page of this address may have written anything there: what `remember` never writes is not read either.
  const KINDS = {
    ...{ text: "string", pair: "string", model: "string", reader: "string" },
    ...{ trained: "boolean", large: "boolean", dark: "boolean", questions: "boolean", keys: "boolean", shown: "boolean" },
  };
  const remembered = () => {
    try {
      const found = Object.entries(JSON.parse(localStorage.getItem(STORE)) ?? {});
      return Object.fromEntries(found.filter(([name, value]) => typeof value === KINDS[name] && !(value.length > LONGEST_LINK)));
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

  // Whether this browser opens the page for the first time, by its bare address; true at most once.
  function isFirstVisit() {
    const [{ name: address }] = performance.getEntriesByType("navigation");
    const first = !remembered().shown && !new URL(address).search;
    remember({ shown: true });
    return first;
  }

  // The reader's own key and this tab's, by which runs are found again: drawn once, sent only to the server.
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
      // private windows refuse storage: then a reload begins afresh
    }
    return `${reader}/${tab}`;
  }

  // The values that this tab keeps for a reload and the Back button: a list of [key, value], the newest first.
  function heldIn(store) {
    try {
      const found = JSON.parse(sessionStorage.getItem(store));
      return Array.isArray(found) ? found.filter(Array.isArray) : [];
    } catch {
      return []; // private windows refuse storage: the notice still says what is missing
    }
  }
  function hold(store, key, value) {
    const others = heldIn(store).filter(([other]) => other !== key);
    try {
      sessionStorage.setItem(store, JSON.stringify([...(value ? [[key, value]] : []), ...others].slice(0, MOST_HELD)));
    } catch {
      // as above
    }
  }
  const held = (store, key) => heldIn(store).find(([other]) => other === key)?.[1];

  return { LONGEST_LINK, remember, remembered, isFirstVisit, pageKey, hold, held };
})();
