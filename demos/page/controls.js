// Adds to Gradio's own controls: number boxes that accept typing, menus that close, keys for the big screen.
(() => {
  // A key that an input method takes to compose text is no command: no letter of the presenter's, no arrow, no Escape.
  window.addEventListener("keydown", (event) => event.isComposing && event.stopImmediatePropagation(), true);

  // A number typed into a box with bounds counts as soon as it is within them; when the box loses the focus, its number
  // becomes the nearest one. Gradio would send each key press, and answer "9" of "95" or an empty box by an error.
  const bounded = (box) => box.matches?.('input[type="number"][min]:not([min=""])');
  const fits = (box) => box.value !== "" && box.validity.valid;
  document.addEventListener(
    "input",
    (event) => {
      if (bounded(event.target) && !fits(event.target)) event.stopImmediatePropagation();
    },
    true,
  );
  document.addEventListener(
    "change",
    ({ target: box }) => {
      if (!bounded(box) || fits(box)) return;
      const [low, high, step] = [+box.min, box.max === "" ? Infinity : +box.max, +box.step || 1];
      const asked = +(box.value || (box.closest(".block").querySelector('input[type="range"]')?.value ?? low));
      const steps = Math.min(Math.round((asked - low) / step), Math.floor((high - low) / step + 1e-9));
      box.value = String(+(low + Math.max(0, steps) * step).toFixed(6));
      box.dispatchEvent(new Event("input", { bubbles: true }));
    },
    true,
  );

  // A menu closes when the focus leaves it. Gradio opens its list a frame after each key, Tab and Shift among them, when
  // the focus may have gone; and a list that can be scrolled is a separate stop for Tab.
  const isMenu = (target) => target.matches?.('input[role="combobox"]');
  document.addEventListener(
    "keydown",
    (event) => {
      if (!isMenu(event.target) || !["Tab", "Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      event.stopImmediatePropagation();
      document.getElementById(event.target.getAttribute("aria-controls"))?.setAttribute("tabindex", "-1");
    },
    true,
  );
  const KEY_HEARD = 100; // milliseconds: more than gradio's frame
  document.addEventListener("focusout", ({ target: menu }) => {
    if (!isMenu(menu)) return;
    setTimeout(() => {
      const open = menu.getAttribute("aria-expanded") === "true" && document.activeElement !== menu;
      if (open) menu.dispatchEvent(new FocusEvent("blur")); // a key was heard after the focus had gone
    }, KEY_HEARD);
  });

  // A lesson's parts are tabs (ARIA's pattern): one stop for Tab, arrows, Home and End go along them. On the big screen the
  // arrows turn to the next part from anywhere, unless they are at work in a control.
  const parts = () => [...document.querySelectorAll('.parts > .tab-wrapper [role="tab"]')].filter((tab) => tab.checkVisibility()); // in presenter mode too, where the row itself is hidden
  const isOpen = (tab) => tab.getAttribute("aria-selected") === "true";
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab") for (const tab of parts()) tab.tabIndex = isOpen(tab) ? 0 : -1;
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    const inside = event.target.closest?.('.parts [role="tab"]');
    if (!inside && (event.target !== document.body || !Number.isFinite(step))) return;
    const tabs = parts();
    const place = tabs.findIndex(isOpen) + step;
    const round = inside ? (place + tabs.length) % tabs.length : place; // past the last one comes the first
    const next = Number.isFinite(step) ? tabs[round] : tabs.at(step < 0 ? 0 : -1);
    if (!next) return;
    event.preventDefault();
    next.click();
    if (inside) next.focus();
  });

  // The same keys go along the lessons, which are links: only Enter opens one.
  document.addEventListener("keydown", (event) => {
    const at = event.target.closest?.("#lesson-links a");
    if (!at || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const links = [...document.querySelectorAll("#lesson-links a")];
    const along = (step) => links.at((links.indexOf(at) + step) % links.length);
    const next = { ArrowRight: along(1), ArrowLeft: along(-1), Home: links[0], End: links.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  // A radio group is one stop for Tab: its chosen radio, or its first. So is a download, a link in which Gradio puts a button.
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Tab") return;
    for (const inner of document.querySelectorAll("a.download-link button")) inner.tabIndex = -1;
    for (const group of document.querySelectorAll("fieldset.block")) {
      const radios = [...group.querySelectorAll('input[type="radio"]')];
      const stop = radios.find((radio) => radio.checked) ?? radios[0];
      for (const radio of radios) radio.tabIndex = radio === stop ? 0 : -1;
    }
  });

  // Arrows go along the choices of a radio group: Gradio names each of them apart, so that no browser knows of the group.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || !event.target.matches?.('input[type="radio"]')) return;
    const group = [...event.target.closest(".block").querySelectorAll('input[type="radio"]')];
    const next = group.at((group.indexOf(event.target) + step) % group.length);
    event.preventDefault();
    next.focus();
    next.click();
  });

  // The text of a button "i" is open while the button has the focus, or after a press; Escape shuts it.
  const unfold = (button, open) => button.setAttribute("aria-expanded", String(open));
  const more = ({ target }) => target.closest?.("button.more");
  document.addEventListener("focusin", (event) => {
    if (more(event)?.matches(":focus-visible")) unfold(more(event), true);
  });
  document.addEventListener("focusout", (event) => more(event) && unfold(more(event), false));
  document.addEventListener("click", (event) => more(event) && unfold(more(event), more(event).getAttribute("aria-expanded") !== "true"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && more(event)) unfold(more(event), false);
  });

  // A sentence's box grows while someone writes in it, and moves what is below it down. It is one line again once the focus
  // has gone; where a press took it away, after that press, which would else miss what it was aimed at. The page gets no event
  // of a press in a frame, and waits until the pointer is over the page again.
  let pressing = false;
  let inFrame = false;
  function grow(box, grown) {
    box.closest(".block").classList.toggle("grown", grown);
    fade();
  }
  const released = () => {
    pressing = inFrame = false;
    for (const box of document.querySelectorAll("#bar .grown:not(:focus-within) textarea")) grow(box, false);
  };
  document.addEventListener("pointerdown", () => (pressing = true), true);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(released), true);
  document.addEventListener("focusin", ({ target }) => target.matches?.("#bar textarea") && grow(target, true));
  document.addEventListener("focusout", ({ target }) => {
    if (!target.matches?.("#bar textarea") || pressing) return;
    setTimeout(() => ((inFrame = document.activeElement?.tagName === "IFRAME") || released()));
  });
  document.addEventListener("pointermove", () => inFrame && !pressing && released(), { passive: true });
  // A sentence that is longer than its line fades where it is cut off; its title says it in full.
  function fade() {
    for (const box of document.querySelectorAll("#bar textarea")) {
      box.dir = "auto"; // right-to-left text is cut off at the left
      const isCut = box.value !== "" && box.scrollWidth > box.clientWidth; // the words of an empty box always fit
      box.closest(".block").classList.toggle("cut", isCut);
      box.title = isCut ? box.value : "";
    }
  }
  document.addEventListener("inside-bert-view", fade);
  window.addEventListener("resize", fade);
  // Escape makes it one line again.
  document.addEventListener("keydown", ({ key, target }) => {
    if (key === "Escape" && target.matches?.("#bar textarea")) target.blur();
  });

  // The link past the bar and the lessons goes to the picture in sight, or to the buttons that start a run above it.
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("a.skip")) return;
    const picture = [...document.querySelectorAll(".picture, .lab-buttons")].find((element) => element.checkVisibility());
    if (!picture) return;
    event.preventDefault();
    picture.tabIndex = -1;
    picture.focus();
  });
})();
