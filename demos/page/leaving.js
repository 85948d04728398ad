// What leaving the page would lose: a run under way, or the runs and models of this page. The browser asks first, and
// after a reload the Fine-tune lesson says what was lost (demos/widgets/run_controller/controller.py tells what there is).
(() => {
  const LOST = "inside-bert-lost"; // told to the tab alone, and only when the page is really left, so that a copy says nothing
  let unsaved = ""; // "run" or "model"
  const inTab = (change) => {
    try {
      return change(sessionStorage);
    } catch {
      return null; // no storage: then there is no sentence after a reload
    }
  };
  const lost = inTab((tab) => tab.getItem(LOST)) || "";
  inTab((tab) => tab.removeItem(LOST));
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault(); // the browser asks in its own words
  });
  window.addEventListener("pagehide", () => unsaved && inTab((tab) => tab.setItem(LOST, unsaved)));
  window.addEventListener("pageshow", ({ persisted }) => persisted && inTab((tab) => tab.removeItem(LOST)));

  Object.assign(window.insideBert, {
    hold(what) {
      unsaved = what || "";
      if (!unsaved) return;
      for (const told of document.querySelectorAll("[data-lost]")) {
        told.hidden = true; // a new run takes the sample's place
        told.classList.remove("notice");
      }
    },

    // What leaving the page lost: "", "run" or "model".
    lost: () => (unsaved ? "" : lost),
  });
})();
