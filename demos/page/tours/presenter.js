// Presenter mode: the stage alone in large type, a blank screen, and the speaker's notes in a second window.
// Its letters work where no field has the focus, and can be switched off (WCAG 2.1.4).
(() => {
  const root = document.documentElement.classList;
  const SEEN = 3000; // milliseconds that bar and menus are seen after the mouse has moved
  const NARROW = 1000; // pixels, as in bar.css
  const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=combobox], [role=listbox]";
  const channel = new BroadcastChannel("inside-bert-tour");
  let timer;

  const isOn = () => root.contains("presenting");
  const hasKeys = () => insideBert.kept.remembered().keys !== false;
  const inField = ({ target }) => Boolean(target.closest?.(FIELDS));

  function show(on) {
    root.toggle("presenting", on);
    root.remove("pointed", "narrow");
    root.toggle("large-type", on || Boolean(insideBert.kept.remembered().large));
    window.dispatchEvent(new Event("resize")); // Plotly and the frames measure again
  }
  function present(on = !isOn()) {
    show(on);
    if (!on) blank(false);
    const query = new URLSearchParams(location.search);
    if (on) query.set("present", "1");
    else query.delete("present");
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
    tell();
  }

  function blank(on = !root.contains("blanked")) {
    root.toggle("blanked", on);
    const cover = document.getElementById("blank");
    if (cover) cover.hidden = !on;
  }

  const button = (label, pressed) => Object.assign(document.createElement("button"), { type: "button", textContent: label, onclick: pressed });

  // The tools, seen while the mouse moves or one of them has the focus
  function build() {
    const tools = document.createElement("div");
    tools.id = "presenter";
    tools.setAttribute("role", "toolbar");
    tools.setAttribute("aria-label", "Presenter mode");
    const keys = button("Keys P, B and F", () => {
      insideBert.kept.remember({ keys: !hasKeys() });
      keys.setAttribute("aria-pressed", String(hasKeys()));
    });
    keys.title = "P begins and ends presenter mode, B or a full stop makes the screen blank, F fills the window with one picture";
    keys.setAttribute("aria-pressed", String(hasKeys()));
    const notes = button("Speaker notes", () => window.open("./tour-notes", "inside-bert-notes", "popup,width=720,height=560"));
    tools.append(notes, button("Blank screen", () => blank(true)), keys, button("End presenter mode", () => present(false)));
    const cover = Object.assign(document.createElement("div"), { id: "blank", hidden: true, onclick: () => blank(false) });
    document.body.append(tools, cover);
  }

  function pressed(event) {
    if (event.key === "Tab") moved(); // keyboard users reach bar and menus too
    if (event.altKey || event.ctrlKey || event.metaKey || inField(event)) return;
    const key = event.key.toLowerCase();
    if (root.contains("blanked") && (key === "escape" || (hasKeys() && "b.".includes(key)))) blank(false);
    else if (hasKeys() && key === "p") present();
    else if (hasKeys() && isOn() && (key === "b" || key === ".")) blank(true);
    else return;
    event.preventDefault();
  }

  // Bar, lessons and parts lie one below the other, however many rows each has; heights in the page's own, zoomed pixels
  function stack() {
    const height = (id) => document.getElementById(id)?.offsetHeight ?? 0;
    const { style } = document.documentElement;
    style.setProperty("--below-bar", `${height("bar")}px`);
    style.setProperty("--below-links", `${height("bar") + height("lesson-links")}px`);
  }

  // A hand on the mouse, or a finger: bar and menus are there; of them the least on a narrow screen
  function moved() {
    if (!isOn()) return;
    root.toggle("narrow", innerWidth <= NARROW);
    stack();
    root.add("pointed");
    clearTimeout(timer);
    timer = setTimeout(rested, SEEN);
  }
  function rested() {
    const held = document.querySelector("#bar:focus-within, #bar:hover, #presenter:hover, #presenter:focus-within, #tour:hover, #lesson-links:hover");
    if (held) timer = setTimeout(rested, SEEN);
    else root.remove("pointed");
  }

  // Sends the second window its content, which that window may also request; it can turn the tour's pages too
  function tell() {
    channel.postMessage({ now: insideBert.tour?.now() || null });
  }
  channel.addEventListener("message", ({ data }) => {
    if (document.visibilityState === "hidden") return; // another tab is on the screen
    if (data.asks) tell();
    if (data.step === 1 || data.step === -1) insideBert.tour.go(data.step);
    if (data.blanks && isOn()) blank();
  });

  // `takesLetters`: whether a letter that is pressed is one of the page's
  insideBert.presenting = { present, blank, tell, takesLetters: (event) => hasKeys() && !inField(event) };
  if (new URLSearchParams(location.search).get("present") === "1") show(true);
  document.addEventListener("keydown", pressed, true);
  document.addEventListener("mousemove", moved, { passive: true });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && tell());
  if (document.body) build();
  else document.addEventListener("DOMContentLoaded", build);
})();
