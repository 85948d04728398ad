// Follows a link within its view: `fold=code` opens the open part's fold of that name, `at=encoder-concat` goes to an
// element, whose fold is opened too. Either is scrolled to the top of the window.
(() => {
  const DRAWN = 60_000; // milliseconds until it appears, and after that in which drawings around it may move it
  const TOLD = 1_000; // milliseconds in which the lesson learns what it shows
  const ANSWER = 3_000; // milliseconds after which a press on a fold was not heard
  const NEAR = 100; // pixels from the window's top, where the bar is
  const pressed = new WeakMap(); // the folds' labels, each with when it was pressed
  let following; // looks whether it has moved
  let led; // where this view begins, until the reader acts
  let top; // its last position, in pixels from the window's top
  let waiting; // for it to come
  const MODIFIERS = ["Shift", "Control", "Alt", "Meta"]; // which do nothing by themselves

  function stop() {
    clearTimeout(waiting);
    clearInterval(following);
    led = undefined;
  }
  function bring() {
    if (!led) return;
    led.scrollIntoView({ block: "start" });
    ({ top } = led.getBoundingClientRect());
  }
  // It was at the end of the page, which has grown since.
  const canGoOn = () => top > NEAR && scrollY + innerHeight < document.documentElement.scrollHeight - 2;
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, ({ isTrusted, key }) => isTrusted && !MODIFIERS.includes(key) && stop(), { capture: true, passive: true });
  }
  addEventListener("resize", () => setTimeout(bring, 100)); // once the page is laid out for its new size

  const shut = (fold) => fold?.querySelector(":scope > .label-wrap:not(.open)");

  // The element, where it is there and in no shut fold; a fold that is shut is opened on the way.
  function shown(id) {
    const found = document.getElementById(id);
    const label = shut(found?.closest(".gr-accordion"));
    if (label?.checkVisibility() && !(Date.now() - pressed.get(label) < ANSWER)) {
      pressed.set(label, Date.now());
      label.click();
    }
    return !label && found?.checkVisibility() && found.offsetHeight > 10 ? found : undefined;
  }

  function follow(ids) {
    led = document.getElementById(ids.at(-1));
    bring();
    following = setInterval(() => {
      ids.forEach(shown); // a press that was heard late may have shut its fold again
      if (Math.abs(led.getBoundingClientRect().top - top) > 2 || canGoOn()) bring();
    }, 200);
    setTimeout(clearInterval, DRAWN, following);
  }

  // `leads` as link.js has them: [[name, what the link says], ...]
  insideBert.link.lead = (lesson, part, leads) => {
    stop();
    if (!leads.length) return;
    const ids = leads.map(([name, said]) => (name === "fold" ? [lesson, part, said].filter(Boolean).join("-") : said));
    const begun = Date.now();
    const look = () => {
      const found = ids.map(shown).filter(Boolean);
      if (found.length === ids.length) follow(ids);
      else if (Date.now() - begun < DRAWN) waiting = setTimeout(look, 100);
    };
    waiting = setTimeout(look, TOLD); // a fold that is opened before the lesson has its tick is not drawn
  };
})();
