// A request that the server could not take at the moment is sent again automatically, after a growing pause; a line at the
// foot of the page says so. Gradio would put the word "Error" in the place of the picture, and leave it there.
(() => {
  const BUSY = new Set([429, 502, 503, 504]);
  const [FIRST, LONGEST] = [1, 8]; // seconds: who waits for a server that starts again goes on within ten
  const fetched = window.fetch;
  const waiting = new Set(); // for each waiting request, the function that sends it at once
  let line;

  function tell(seconds) {
    if (!line) {
      line = Object.assign(document.createElement("p"), { id: "ask-again" });
      line.setAttribute("role", "status");
      const now = Object.assign(document.createElement("button"), { type: "button", textContent: "Try now" });
      now.addEventListener("click", () => waiting.forEach((go) => go()));
      line.append(document.createElement("span"), now);
    }
    line.firstChild.textContent = `The server is not responding. Trying again in ${seconds} s. `;
    document.body.append(line);
  }

  function pause(seconds) {
    tell(seconds);
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, seconds * 1000);
      waiting.add(go);
    });
  }

  window.fetch = async (...asked) => {
    const address = String(asked[0] instanceof Request ? asked[0].url : asked[0]);
    if (!address.includes("/queue/join")) return fetched(...asked);
    for (let seconds = FIRST; ; seconds = Math.min(2 * seconds, LONGEST)) {
      const answer = await fetched(...asked).catch((fault) => fault);
      if (answer instanceof Response && !BUSY.has(answer.status)) {
        if (!waiting.size) line?.remove();
        return answer;
      }
      if (answer.name === "AbortError") throw answer;
      await pause(seconds);
    }
  };
})();
