// `fold=code` in the link: the open part's fold of that name is opened, and stands at the top of the window.
(() => {
  const PATIENCE = 20_000; // milliseconds for the fold to come, on a busy machine
  const REST = 1_500; // milliseconds without a change of the page's height after which it stays where it is
  let following; // what the fold stays in sight of, until the reader acts

  function stop() {
    following?.disconnect();
    following = undefined;
  }
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(act, stop, { capture: true, passive: true });

  function shown(id) {
    const fold = document.getElementById(id);
    const label = fold?.querySelector(":scope > .label-wrap");
    if (!label?.checkVisibility()) return undefined;
    if (!label.classList.contains("open")) label.click();
    return fold;
  }

  // What is drawn above it, or in it, moves it: it is brought back until the page is at rest.
  function follow(fold) {
    let end;
    following = new ResizeObserver(() => {
      fold.scrollIntoView({ block: "start" });
      clearTimeout(end);
      end = setTimeout(stop, REST);
    });
    following.observe(document.body);
    following.observe(fold);
  }

  insideBert.openFold = (lesson, part, name) => {
    stop();
    if (!name) return;
    const id = [lesson, part, name].filter(Boolean).join("-");
    const begun = Date.now();
    const look = () => {
      const fold = shown(id);
      if (fold) follow(fold);
      else if (Date.now() - begun < PATIENCE) setTimeout(look, 100);
    };
    look();
  };
})();
