// A tour of the reader's own, which this browser keeps; its editor is loaded when it is opened.
insideBert.ownTour = (() => {
  const STORE = "inside-bert-tour"; // { title, stops: the source, tour: as read by the server }
  const OPEN = "inside-bert-tour-open"; // in this tab
  const EMPTY = { title: "", stops: [] };
  const read = () => {
    try {
      return { ...EMPTY, ...JSON.parse(localStorage.getItem(STORE)) };
    } catch {
      return EMPTY;
    }
  };
  // -> whether it is kept: private windows refuse storage
  function keep(own) {
    try {
      localStorage.setItem(STORE, JSON.stringify(own));
      return true;
    } catch {
      return false;
    }
  }
  // Whether the editor is open, for a reload of this tab
  function note(isOpen) {
    try {
      if (isOpen) sessionStorage.setItem(OPEN, "yes");
      else sessionStorage.removeItem(OPEN);
    } catch {
      // as above
    }
  }
  async function open() {
    note(true);
    if (document.getElementById("own-tour")) return;
    if (await insideBert.page.bring("./tour-editor", "own-tour")) document.getElementById("own-tour").focus({ preventScroll: true });
  }
  const close = () => {
    note(false);
    document.getElementById("own-tour")?.remove();
  };
  try {
    if (sessionStorage.getItem(OPEN)) {
      if (document.body) open();
      else document.addEventListener("DOMContentLoaded", open);
    }
  } catch {
    // as above
  }
  return { NAME: "~own", read, keep, open, close };
})();
