// A guided tour: a card at the foot of the page leads from stop to stop. Arrow keys or a presenter's clicker turn it.
(() => {
  const { made } = insideBert.page;
  const FILLED = 20; // pixels high: less is an empty place
  const DRAWN = 6000; // milliseconds after which nothing of the page is still to come
  const tours = window.tours ?? {};
  const link = new URLSearchParams(location.search);
  const isReview = !link.has("tour") && insideBert.yourQuestions.review.names.length > 0;
  const key = isReview ? "review" : "tour"; // in the link
  const name = isReview ? insideBert.yourQuestions.review.names.join(",") : link.get("tour") ?? "";
  let tour; // with its stops, once it is here
  let at = 0;
  const dismissed = () => document.documentElement.classList.contains("tour-closed");

  // The tour that the link names: one of the page's, a set of questions, or the reader's own, which this browser keeps.
  async function read() {
    if (isReview) return insideBert.yourQuestions.review.tour();
    if (name === insideBert.ownTour.NAME) return insideBert.ownTour.read().tour;
    if (!Object.hasOwn(tours, name)) return undefined;
    const answer = await fetch(`./tours/${encodeURIComponent(name)}.json`).catch(() => undefined);
    return answer?.ok ? answer.json() : undefined;
  }

  function address(kind, of, number, { lesson, query: said }) {
    const query = new URLSearchParams(said);
    const now = new URLSearchParams(location.search);
    for (const lasting of ["present", "questions", "__theme"]) if (now.has(lasting)) query.set(lasting, now.get(lasting));
    query.set(kind, of);
    query.set("stop", number);
    return `./${lesson}?${query}`;
  }
  const addressOf = (number) => address(key, name, number, tour.stops[number - 1]);

  function leave() {
    document.getElementById("tour")?.remove();
    document.documentElement.classList.remove("touring");
    document.documentElement.classList.add("tour-closed");
    document.querySelector(".toured")?.classList.remove("toured");
    const query = new URLSearchParams(location.search);
    for (const gone of [key, "stop"]) query.delete(gone);
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
  }

  function card() {
    const stop = tour.stops[at - 1];
    const turn = (number, label, rel) => (tour.stops[number - 1] ? [made("a", { className: "turn", href: addressOf(number), rel, textContent: label })] : []);
    const said = made("div", { className: "said" });
    said.innerHTML = stop.text; // made by the server of Markdown in which no HTML counts
    const heading = made("h2", { tabIndex: -1, textContent: stop.title });
    const close = made("button", { type: "button", textContent: isReview ? "End" : "End the tour", onclick: leave });
    const again = made("a", { className: "again", href: addressOf(at), textContent: `${tour.title}: ${at} of ${tour.stops.length}`, title: "Show this stop as it was" });
    const node = made("section", { id: "tour" }, made("div", { className: "words" }, again, heading, said));
    node.setAttribute("aria-label", isReview ? "Questions" : "Guided tour");
    const last = tour.stops[at] ? [] : [insideBert.yourQuestions.review.button()];
    node.append(made("div", { className: "turns" }, ...turn(at - 1, "Back", "prev"), ...turn(at + 1, "Next", "next"), ...last, close));
    document.body.append(node);
    document.documentElement.classList.add("touring");
    heading.focus({ preventScroll: true });
    outline(stop.light);
  }

  const asked = () => [...document.querySelectorAll(".question")].find((card) => card.checkVisibility());

  // The element to look at, once it is there and filled; it stays in sight while the rest of the page is drawn
  function outline(id) {
    if (!id || dismissed()) return;
    const node = document.getElementById(id);
    const isCovered = node?.closest("[data-covered]");
    const fold = node?.closest(".gr-accordion")?.querySelector(":scope > .label-wrap:not(.open)");
    if (!isCovered) fold?.click();
    if (!isCovered && node?.offsetHeight >= FILLED) node.classList.add("toured");
    if (asked() || !node?.classList.contains("toured")) {
      setTimeout(outline, 300, id); // a question is to be answered first, or its answer is being read
      return;
    }
    const look = () => {
      if (!asked()) return node.scrollIntoView({ block: "start" });
      stop(); // the question came later than what it covers
      asked().scrollIntoView({ block: "nearest" });
      outline(id);
    };
    const growing = new ResizeObserver(look);
    const stop = () => growing.disconnect();
    growing.observe(document.getElementById("lessons"));
    for (const kind of ["wheel", "pointerdown", "keydown", "touchstart"]) addEventListener(kind, stop, { once: true, passive: true });
    setTimeout(stop, DRAWN);
    look();
  }

  function turned(event) {
    if (dismissed() || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable], [role=radio], [role=tab], [role=slider], [role=grid], [role=listbox]")) return;
    const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (event.key === "Escape" && !event.defaultPrevented) leave();
    if (!step || !tour.stops[at + step - 1]) return;
    event.preventDefault();
    go(step);
  }
  function go(step) {
    if (tour?.stops[at + step - 1] && !dismissed()) location.assign(addressOf(at + step));
  }

  // On pages with a place for them: links to all tours, and the reader's questions
  function offer() {
    const place = document.querySelector("[data-tours]");
    if (!place || place.childElementCount) return;
    const [first, ...others] = Object.entries(tours).map(([of, begin]) =>
      made("a", { href: address("tour", of, 1, begin), textContent: `${begin.title} (${begin.count} stops)` }),
    );
    const write = made("button", { type: "button", textContent: "Write your own tour", onclick: () => insideBert.ownTour.open() });
    const more = made("details", {}, made("summary", { textContent: "more tours" }), made("div", { className: "more" }, ...others, write));
    place.append("Guided tours: ", first, more, insideBert.yourQuestions.review.button());
  }

  // A set's link without a stop opens its first question, and says there which names it did not know
  if (isReview && !link.has("stop")) location.replace(address(key, link.get("review"), 1, insideBert.yourQuestions.review.tour().stops[0]));

  const reading = read();
  async function begin() {
    new MutationObserver(offer).observe(document.body, { childList: true, subtree: true });
    offer();
    tour = await reading;
    if (!tour) return;
    at = Math.min(Math.max(1, number), tour.stops.length);
    card();
    document.addEventListener("keydown", turned);
    insideBert.presenting.tell();
  }
  const number = Number.parseInt(link.get("stop") ?? "1", 10) || 1;
  const own = name === insideBert.ownTour.NAME ? insideBert.ownTour.read().tour : undefined;
  insideBert.tour = {
    address,
    // Whether the stop shows its part's question: known before anything is drawn
    asks: isReview || (own ? Boolean(own.stops?.[number - 1]?.asks) : Object.hasOwn(tours, name) && tours[name].asks.includes(number)),
    // For the speaker's notes: what is shown now, and the way on
    go,
    now: () => tour && !dismissed() && { title: tour.title, at, count: tour.stops.length, stop: tour.stops[at - 1], next: tour.stops[at]?.title ?? "" },
  };
  if (insideBert.tour.asks || insideBert.link.questionsOn()) document.documentElement.classList.add("to-ask"); // until the card is there
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
