// A guided tour: a card at the foot of the page leads from stop to stop. Arrow keys or a presenter's clicker turn it.
(() => {
  const tours = window.tours ?? {};
  const link = new URLSearchParams(location.search);
  const name = link.get("tour");
  const tour = Object.hasOwn(tours, name ?? "") ? tours[name] : undefined;
  const stops = tour?.stops ?? [];
  const at = Math.min(Math.max(1, Number.parseInt(link.get("stop") ?? "1", 10) || 1), stops.length);
  const dismissed = () => document.documentElement.classList.contains("tour-closed");

  function address(of, number) {
    const stop = tours[of].stops[number - 1];
    const query = new URLSearchParams(stop.query);
    query.set("tour", of);
    query.set("stop", number);
    return `./${stop.lesson}?${query}`;
  }

  const made = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  function leave() {
    document.getElementById("tour")?.remove();
    document.documentElement.classList.add("tour-closed");
    document.querySelector(".toured")?.classList.remove("toured");
    const query = new URLSearchParams(location.search);
    query.delete("tour");
    query.delete("stop");
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
  }

  function card() {
    const stop = stops[at - 1];
    const turn = (number, label, rel) =>
      made("a", { className: "turn", href: number >= 1 && number <= stops.length ? address(name, number) : "", rel, textContent: label });
    const [back, next] = [turn(at - 1, "Back", "prev"), turn(at + 1, "Next", "next")];
    const said = made("div", { className: "said" });
    said.innerHTML = stop.text; // made by the server of Markdown in which no HTML counts
    const heading = made("h2", { tabIndex: -1, textContent: stop.title });
    const close = made("button", { type: "button", textContent: "End the tour", onclick: leave });
    const again = made("a", { className: "again", href: address(name, at), textContent: `${tour.title}: ${at} of ${stops.length}`, title: "Show this stop as it was" });
    const node = made("section", { id: "tour" }, made("div", { className: "words" }, again, heading, said));
    node.setAttribute("aria-label", "Guided tour");
    node.append(made("div", { className: "turns" }, ...(at > 1 ? [back] : []), ...(at < stops.length ? [next] : []), close));
    document.body.append(node);
    heading.focus({ preventScroll: true });
    outline(stop.light);
  }

  // The element to look at, once it is there
  function outline(id) {
    if (!id || dismissed()) return;
    const node = document.getElementById(id);
    if (node?.getClientRects().length) {
      node.classList.add("toured");
      node.scrollIntoView({ block: "start" });
    } else setTimeout(outline, 300, id);
  }

  function turned(event) {
    if (dismissed() || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable], [role=radio], [role=tab], [role=slider], [role=grid], [role=listbox]")) return;
    const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (event.key === "Escape") leave();
    if (!step || at + step < 1 || at + step > stops.length) return;
    event.preventDefault();
    location.assign(address(name, at + step));
  }

  // Where a page has a place for it: links to all tours
  function offer() {
    const place = document.querySelector("[data-tours]");
    if (!place || place.childElementCount) return;
    const links = Object.entries(tours).map(([of, { title, stops: all }]) =>
      made("a", { href: address(of, 1), textContent: `${title} (${all.length} stops)` }),
    );
    if (links.length) place.append("Guided tours: ", ...links.flatMap((node, index) => (index ? [", ", node] : [node])));
  }

  function begin() {
    if (tour) {
      card();
      document.addEventListener("keydown", turned);
    }
    new MutationObserver(offer).observe(document.body, { childList: true, subtree: true });
    offer();
  }
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
