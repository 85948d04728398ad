// The question cards of a lesson: a card covers its part's picture until an answer is given or waived.
// Runs once for the component that holds the cards as templates (`element`).
const MOST_WORDS = 60;
const SEEN = 10_000; // milliseconds that a part is open, after which it counts as seen
const PIECES = /\[(?:SEP|CLS|PAD|MASK|UNK)\]|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu; // special tokens, words and marks apart, as BERT's tokenizer begins
const sizes = JSON.parse(props.sizes);
// [layers, heads, width]; a model that was opened by its name is not in the list, but in the bar
const sizeOf = (model) => sizes[model] ?? JSON.parse(document.getElementById("model-note")?.dataset.size ?? "[0, 0, 0]");
const templates = Object.fromEntries([...element.querySelectorAll("template[data-part]")].map((one) => [one.dataset.part, one]));
const [press] = element.querySelector("[data-press]").content.cloneNode(true).children;
const cards = {}; // part -> its card in the page
const pressed = new Set(); // parts whose question was requested
const given = {}; // part -> the sentence that its answer was for
let asking; // [part, answer] on its way to the server
let solved; // callbacks that wait for the right answers alone
let openPart;
let seeing; // the clock of the open part
const toured = new URLSearchParams(location.search).get("part"); // where a tour's stop leads; null for a lesson's first part
let stopAsks = insideBert.tour.asks; // and has not done so yet

const now = () => insideBert.link.view();
const part = () => now().choices.part ?? "";
const nameOf = (of) => (of ? `${props.lesson}/${of}` : props.lesson); // of its question, in links
const sentence = () => JSON.stringify([now().text, now().pair, now().inUse]);
const host = (of) => (of ? document.querySelector(`#${props.lesson}-${of} > .column`) : document.getElementById(`lesson-${props.lesson}`));

function filled(card) {
  const { text, pair, inUse, choices } = now();
  const [layers, heads, width] = sizeOf(inUse);
  const words = `${text} ${pair}`.split(/\s+/).filter(Boolean).length;
  const known = { text, pair, words, layers, heads, width, ...choices };
  for (const space of card.querySelectorAll("[data-fill]")) space.textContent = known[space.dataset.fill] ?? "";
}

const radio = (value, label) => {
  const button = Object.assign(document.createElement("input"), { type: "radio", name: "said", value, required: true });
  button.setAttribute("aria-label", label);
  return button;
};

// The sentence as chips: [CLS], its words and marks, [SEP]
function tokenChips(place) {
  place.dataset.of = sentence();
  const { text, pair } = now();
  const chip = (value, said) => {
    const label = document.createElement("label");
    const word = Object.assign(document.createElement("span"), { textContent: said });
    label.append(radio(value, said), word);
    return label;
  };
  const points = (string, end) => [...string.slice(0, end)].length; // code points, as Python counts
  const own = [text, pair].flatMap((said, index) =>
    [...said.matchAll(PIECES)].slice(0, MOST_WORDS).map((found) => {
      const start = points(said, found.index);
      return chip(`${index}:${start}:${start + [...found[0]].length}`, found[0]);
    }),
  );
  place.replaceChildren(chip("cls", "[CLS]"), ...own, chip("sep", "[SEP]"));
}

function made(of) {
  const [card] = templates[of].content.cloneNode(true).children;
  const form = card.querySelector("form");
  filled(card);
  for (const place of card.querySelectorAll(".tokens")) tokenChips(place);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    ask(of, String(new FormData(form).get("said") ?? ""));
  });
  card.addEventListener("click", ({ target }) => {
    if (target.closest("[data-waive]")) ask(of, "");
    if (target.closest("[data-close]")) remove(of);
  });
  card.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && card.classList.contains("answered")) remove(of);
    if (!event.key?.startsWith("Page")) event.stopPropagation(); // arrows choose an answer; a presenter's clicker turns the page
  });
  return card;
}

// A question covers the picture that it is about; the page has a mark for that
function covers(place, does) {
  place.toggleAttribute("data-covered", does);
  document.documentElement.classList.toggle("covering", document.querySelector("[data-covered]") !== null);
}

function remove(of) {
  const place = cards[of]?.parentElement;
  cards[of]?.remove();
  delete cards[of];
  if (!place) return;
  covers(place, false);
  place.style.minHeight = "";
  if (of === part()) press.hidden = false;
  if (document.activeElement === document.body) press.focus({ preventScroll: true });
}

function cover(of) {
  const place = host(of);
  if (!place) return setTimeout(refresh, 150); // a tab is built when it is first opened
  remove(of);
  const card = (cards[of] = made(of));
  delete given[of];
  covers(place, true);
  place.prepend(card);
  const heading = place.querySelector(":scope > .lesson-heading h2");
  if (heading) card.style.top = `${heading.offsetTop + heading.offsetHeight}px`;
  new ResizeObserver(() => {
    if (place.hasAttribute("data-covered")) place.style.minHeight = `${card.offsetTop + card.offsetHeight}px`;
  }).observe(card);
  press.hidden = true;
}

function ask(of, said) {
  asking = [of, said];
  given[of] = sentence();
  pressed.delete(of);
  const card = cards[of];
  covers(card.parentElement, false);
  card.parentElement.style.minHeight = "";
  card.style.top = "";
  card.querySelector("form").remove();
  card.classList.add("answered");
  card.focus({ preventScroll: true });
  dispatchEvent(new Event("resize")); // drawings made out of sight measure again
  trigger("select");
}

// The question of a part whose picture was in sight comes again, even where it was not requested
function saw(of) {
  if (Object.hasOwn(templates, of) && !host(of)?.hasAttribute("data-covered")) insideBert.boxes.saw(nameOf(of));
}

// The card on the page: the open part's where it is requested, none of another sentence
function refresh() {
  const of = part();
  const turned = of !== openPart;
  openPart = of;
  if (turned) {
    clearTimeout(seeing);
    seeing = setTimeout(saw, SEEN, of);
  }
  const heading = document.querySelector(`#lesson-${CSS.escape(props.lesson)} > .lesson-heading .look`);
  if (heading && !press.isConnected) heading.after(press);
  for (const other of Object.keys(given)) {
    if (given[other] === sentence()) continue;
    if (cards[other]?.classList.contains("answered")) remove(other);
    if (turned && other === of) delete given[of]; // another sentence: the question comes again when the part is opened again
  }
  if (stopAsks && Object.hasOwn(templates, of) && of === (toured ?? of)) {
    stopAsks = false;
    pressed.add(of);
  }
  const isWanted = Object.hasOwn(templates, of) && (pressed.has(of) || (insideBert.link.questionsOn() && !(of in given)));
  const isCovered = cards[of] && !cards[of].classList.contains("answered");
  if (isWanted && !(isCovered && cards[of].isConnected)) cover(of);
  else if (isWanted) {
    filled(cards[of]);
    for (const place of cards[of].querySelectorAll(".tokens")) if (place.dataset.of !== sentence()) tokenChips(place);
  } else if (isCovered) remove(of);
  press.hidden = !Object.hasOwn(templates, of) || isWanted || Boolean(cards[of]);
  if (insideBert.link.place() && (!isWanted || cards[of]?.isConnected)) document.documentElement.classList.remove("to-ask");
}

// ---- what was predicted, in this browser

const inLesson = ({ of }) => of.split("/")[0] === props.lesson;

function list() {
  const details = element.querySelector(".predicted");
  const cards = insideBert.boxes.all().filter((card) => card.right !== undefined); // a part that was only seen was not predicted
  const found = Object.keys(templates).flatMap((slug) => cards.filter(({ of }) => of === nameOf(slug)).map((card) => ({ slug, card })));
  details.querySelector("ul").replaceChildren(
    ...found.map(({ slug, card: { said, right } }) => {
      const [line] = element.querySelector("[data-line]").content.cloneNode(true).children;
      const link = line.querySelector("a");
      line.querySelector("b").textContent = right === true ? "✓" : right === false ? "✗" : "–";
      link.textContent = templates[slug].dataset.tab;
      Object.assign(link.dataset, { lesson: props.lesson, choices: JSON.stringify(slug ? { part: slug } : {}) });
      link.href = `./${props.lesson}`;
      line.querySelector("span").textContent = right === null ? "not answered" : right ? `${said} (correct)` : `${said} (not correct: look at it again)`;
      return line;
    }),
  );
  details.hidden = !found.length;
}

element.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-forget]")) return;
  insideBert.boxes.forget(inLesson);
});
document.addEventListener(insideBert.boxes.KEPT, list);
press.addEventListener("click", () => insideBert.questions.open());

insideBert.questions = {
  asked: () => JSON.stringify(asking),

  // The server's answer, or an empty one where it had none
  answered(answer) {
    const { part: of, right, said, html, keys } = answer ? JSON.parse(answer) : {};
    if (solved) {
      solved(keys ?? []);
      solved = undefined;
      return;
    }
    const card = cards[of];
    if (!card?.classList.contains("answered")) return;
    card.querySelector(".revealed").innerHTML = html; // made by the server, which escapes what it is sent
    card.classList.toggle("right", right === true);
    card.classList.toggle("wrong", right === false);
    filled(card);
    card.scrollIntoView({ block: "nearest" }); // on a phone the press was below what is said now
    if (right === undefined) return;
    const day = insideBert.boxes.answered(nameOf(of), right, said);
    const [again] = element.querySelector("[data-again]").content.cloneNode(true).children;
    again.querySelector("time").dateTime = day;
    again.querySelector("time").textContent = insideBert.boxes.date(day);
    card.querySelector("dl").append(...again.children);
  },

  // The open part, lesson/part, and its question with the answers, as one would type it, and their names; undefined where
  // none can be chosen
  asText() {
    const of = part();
    if (templates[of]?.dataset.kind !== "choice") return undefined;
    const card = made(of);
    const plain = (node) => node.textContent.replace(/\s+/g, " ").trim();
    const answers = [...card.querySelectorAll("label > span")].map(plain);
    const names = [...card.querySelectorAll('[name="said"]')].map(({ value }) => value);
    return { part: nameOf(of), question: plain(card.querySelector("legend")), answers, names };
  },

  // -> the names of the right ones among them, as the server computes them; none where it can't
  right: () =>
    new Promise((resolve) => {
      solved = resolve;
      asking = [part(), ""];
      trigger("select");
    }),

  // Open the card of the open part
  open() {
    pressed.add(part());
    delete given[part()];
    remove(part());
    refresh();
    cards[part()]?.focus({ preventScroll: true });
  },
};
document.addEventListener("inside-bert-view", refresh);
list();
refresh();
