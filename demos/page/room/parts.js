// The common parts of the lecturer's and a member's scripts: forms and words, requests, the stream of events, a vote's bars.
const HERE = new URL(".", import.meta.url);
const AGAIN = 3000; // milliseconds before a refused stream is requested again
const MOMENT = 3000; // milliseconds of silence that are not reported: a proxy ends a stream now and then
const ASLEEP = 20_000; // milliseconds out of sight after which a stream may have died with no sign
export const room = window.insideBertRoom;

export const address = (name, query) => new URL(`${name}?${new URLSearchParams(query)}`, HERE);

let parts;
async function fetched() {
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("style.css", HERE) });
  const styled = new Promise((resolve) => (style.onload = style.onerror = resolve));
  document.head.append(style);
  const box = document.createElement("template");
  box.innerHTML = await (await fetch(new URL("parts.html", HERE))).text(); // of the server's own words alone
  await styled;
  return box.content;
}

// A copy of a form of text.html
export async function part(name) {
  parts ??= fetched();
  return (await parts).getElementById(name).content.cloneNode(true);
}

// The picture of the part whose own question is put to the vote gives the answer away: it is out of sight until the result is
// shown. `root` says so.
export function hidePicture(root, vote) {
  const { lesson, choices } = insideBert.link.view();
  const isOpen = vote?.part === [lesson, choices.part].filter(Boolean).join("/");
  const hides = isOpen && !vote.revealed;
  document.documentElement.classList.toggle("voting", hides);
  for (const notice of root.querySelectorAll(".room-hides")) notice.hidden = !hides;
}

let words = {};
export const word = (name) => words[name];
export async function readWords() {
  for (const one of (await part("room-words")).children) words[one.dataset.word] = one.textContent;
}

export function fill(root, texts) {
  for (const [name, text] of Object.entries(texts)) {
    for (const place of root.querySelectorAll(`[data-text="${name}"]`)) if (place.textContent !== String(text)) place.textContent = text;
  }
}

export function made(tag, className, text = "") {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}

// -> what the server answers. Throws an error whose message may be shown.
export async function post(name, code, said) {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(said), keepalive: true };
  const answer = await fetch(address(name, { room: code }), options).catch(() => null);
  const told = (await answer?.json().catch(() => null)) ?? {};
  if (!answer?.ok) {
    const silent = !answer || answer.status >= 500;
    throw Object.assign(new Error(silent ? word("silent") : told.detail || word("refused")), { status: silent ? 0 : answer.status });
  }
  return told;
}

// Call `heard(state, name)` for each event: `state` is the last of each name, `name` the new one. `lost` says, where the
// server refuses the stream, whether to try again. `reached` is called when the server has been silent for a moment (false),
// and when it answers again (true). -> a function that ends it
export function listen(heard, lost, reached) {
  const state = {};
  let source;
  let ended = false;
  let silent; // the clock of a silence
  let isTold = false;
  function tell() {
    isTold = !ended;
    if (isTold) reached(false);
  }
  function open() {
    if (ended || !room.now) return;
    source?.close();
    const { code, member } = room.now;
    source = new EventSource(address("stream", { room: code, key: member }));
    source.onmessage = ({ data }) => {
      const news = JSON.parse(data);
      Object.assign(state, news);
      for (const name of Object.keys(news)) heard(state, name);
    };
    source.onopen = () => {
      clearTimeout(silent);
      silent = undefined;
      if (isTold) reached(true);
      isTold = false;
    };
    source.onerror = async () => {
      silent ??= setTimeout(tell, MOMENT);
      if (source.readyState === EventSource.CLOSED && (await lost())) setTimeout(open, AGAIN);
    };
  }
  // A phone that slept: its connection may be gone without any event
  let hidden = Infinity; // since when
  function seen() {
    if (document.visibilityState === "visible" && Date.now() - hidden > ASLEEP) open();
    hidden = document.visibilityState === "visible" ? Infinity : Date.now();
  }
  document.addEventListener("visibilitychange", seen);
  addEventListener("online", open);
  open();
  return () => {
    ended = true;
    clearTimeout(silent);
    document.removeEventListener("visibilitychange", seen);
    removeEventListener("online", open);
    source?.close();
  };
}

// A vote's answers with their counts, the rounds side by side: counts alone, never whose
export function tally(vote, rounds, own) {
  const box = made("div", "room-rounds");
  rounds.forEach((counts, round) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const figure = made("figure", "");
    if (rounds.length > 1) figure.append(made("figcaption", "", word(round ? "second" : "first")));
    const list = made("ol", "");
    vote.answers.forEach((answer, place) => {
      const row = made("li", vote.revealed && vote.right.includes(place) ? "right" : "");
      const bar = made("span", "bar");
      bar.style.setProperty("--share", total ? counts[place] / total : 0);
      const name = made("span", "answer", answer);
      name.dir = "auto";
      row.append(name, made("b", "count", String(counts[place])), bar);
      const notes = [row.className && word("right"), own === place && round === vote.round - 1 && word("yours")].filter(Boolean);
      if (notes.length) name.append(made("span", "note", ` (${notes.join(", ")})`));
      list.append(row);
    });
    figure.append(list);
    box.append(figure);
  });
  return box;
}
