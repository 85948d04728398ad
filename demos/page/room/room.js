// The room (demos/page/room): who is in one, from page to page of this tab. Its other scripts come when they are needed.
(() => {
  const TAB = "inside-bert-room"; // in this tab: the code and the member's key; the opener's key
  const BROWSER = "inside-bert-led"; // in this browser: the room that was opened here, for another tab of its opener
  /** @param {"sessionStorage" | "localStorage"} store */
  const read = (store, name) => {
    try {
      return JSON.parse(window[store].getItem(name)); // whose mere name may throw
    } catch {
      return null; // private windows refuse storage: then a reload leaves the room
    }
  };
  let now = read("sessionStorage", TAB);
  const room = {
    get now() {
      return now;
    },
    set(changes) {
      now = changes && { ...now, ...changes };
      try {
        if (now) sessionStorage.setItem(TAB, JSON.stringify(now));
        else sessionStorage.removeItem(TAB);
        if (now?.key) localStorage.setItem(BROWSER, JSON.stringify(now));
      } catch {
        // as above
      }
    },
    // A member's pass, which goes with the name of a run to open the room's; "" for all others
    get pass() {
      return now?.member && !now.key ? `${now.code}.${now.member}` : "";
    },
    // The room that another tab of this browser has opened
    led: () => read("localStorage", BROWSER),
    forget() {
      try {
        localStorage.removeItem(BROWSER);
      } catch {
        // as above
      }
    },
    script: (name) => import(new URL(`./room/${name}.js`, location.href).href),
  };
  window.insideBertRoom = room;

  // A link into a room. Its code does not stay in the address, which readers share.
  const link = new URLSearchParams(location.search);
  const code = link.get("room");
  if (code !== null) {
    link.delete("room");
    history.replaceState(history.state, "", `${location.pathname}${link.size ? `?${link}` : ""}${location.hash}`);
    if (code.toUpperCase() !== now?.code) {
      now = null;
      room.set({ code, following: true });
    }
  }
  const begin = async () => now && (await room.script(now.key ? "leader" : "member")).begin();
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
  document.addEventListener("click", async ({ target }) => {
    if (target.closest?.("#room-button")) (await room.script("leader")).open();
  });
})();
