// Before a page's own scripts: it counts what the page has yet to do, and `atRest(most)` waits until that is nothing.
// What it counts: requests, answers of the server, timers of less than a second, transitions of style. Frames of animation
// are not counted; the two looks are more than a frame apart.
(() => {
  if (window.atRest) return;
  const LATER = 1000; // milliseconds: a timer as long as this is a clock, and no step of a drawing
  const names = ["fetch", "setTimeout", "clearTimeout", "requestIdleCallback"];
  const own = Object.fromEntries(names.map((name) => [name, window[name].bind(window)]));
  const pending = new Set();
  let unanswered = 0;

  // `name` puts off a function, `end` takes that back; both go on as they did.
  const count = (name, end) => {
    window[name] = (run, ...rest) => {
      if (typeof run !== "function" || rest[0] >= LATER) return own[name](run, ...rest);
      const number = own[name](
        (...given) => {
          pending.delete(name + number);
          run(...given);
        },
        ...rest,
      );
      pending.add(name + number);
      return number;
    };
    if (!end) return;
    window[end] = (number) => {
      pending.delete(name + number);
      own[end](number);
    };
  };
  count("setTimeout", "clearTimeout");
  count("requestIdleCallback");

  const readAnswers = async (stream) => {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const told = (rest + value).split('"msg":"process_completed"');
      unanswered -= told.length - 1;
      rest = told.at(-1).slice(-40);
    }
  };
  window.fetch = async (...asked) => {
    const address = String(asked[0]?.url ?? asked[0]);
    const event = address.includes("/queue/join") ? 1 : 0;
    const request = {};
    pending.add(request);
    unanswered += event;
    let taken = false;
    try {
      const answer = await own.fetch(...asked);
      taken = answer.ok;
      if (!address.includes("/queue/data")) return answer;
      const [theirs, ours] = answer.body.tee();
      readAnswers(ours).catch(() => {}); // the page was left
      return new Response(theirs, answer);
    } finally {
      if (!taken) unanswered -= event;
      pending.delete(request);
    }
  };

  const moves = (animation) => animation.playState === "running" && animation.effect?.getComputedTiming().endTime !== Infinity;
  const busy = () => unanswered > 0 || pending.size > 0 || document.getAnimations().some(moves);
  // A moment with nothing else to do. (After some changes of the window's size Chromium calls no idle callback for as long as
  // the page draws nothing, and in a frame of another process it never does.)
  const idle = (go) => scheduler.postTask(go, { priority: "background" });
  // -> whether the page is at rest, in two looks at an idle page, after `most` milliseconds at the latest; and how many
  // events the server has not answered.
  window.atRest = async (most) => {
    const until = performance.now() + most;
    let quiet = 0;
    while (quiet < 2) {
      await new Promise((go) => idle(() => own.setTimeout(go, 20)));
      quiet = busy() ? 0 : quiet + 1;
      if (performance.now() >= until) break;
    }
    return [quiet === 2, Math.max(0, unanswered)];
  };
})();
