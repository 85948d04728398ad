// The lecturer's side of a room: a panel that the press "Room" opens, and this page's view, sent to the members.
import { classLists } from "./lists.js";
import { fill, hidePicture, listen, made, part, post, readWords, room, tally, word } from "./parts.js";
import { begin as beginRecord, gather, keepVote, record } from "./record.js";
import { movedText, page, shift, table } from "./report.js";

const LOOK = 150; // milliseconds between two looks at the address
const LONGEST_HEADING = 300; // characters of a stop's
const LEAVING = 5000; // milliseconds in which a page that is left for another says nothing more
let panel;
let big;
/** @type {RoomState} */
let state = {};
let stop = () => {};
let leads = 0; // the timer that looks at the address
let told = ""; // the last view that was sent
let quietUntil = 0;
let ran = ""; // the last run that was sent

// A page of a tab that leads already
export async function begin() {
  await ready();
  lead();
}

// The press "Room"
export async function open() {
  if (room.now && !room.now.key) return document.querySelector("#room-line button")?.focus(); // a member
  if (panel?.isConnected && !panel.hidden) return shut();
  await ready();
  panel.hidden = false;
  pressed(true);
  if (!leads) await start();
  document.getElementById("room-heading").focus();
}

function shut() {
  panel.hidden = true;
  pressed(false);
  document.getElementById("room-button")?.focus();
}
const pressed = (on) => document.getElementById("room-button")?.setAttribute("aria-expanded", String(on));

let building;
const ready = () => (building ??= build());
async function build() {
  await readWords();
  document.body.append(await part("room-panel"));
  panel = document.getElementById("room");
  panel.hidden = true;
  document.body.append(await part("room-big"));
  big = document.getElementById("room-on-screen");
  for (const place of [panel, big]) place.addEventListener("click", clicked);
  panel.addEventListener("submit", sent);
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation(); // a tour would end by it
    shut();
  });
}

async function put(form) {
  panel.querySelector(".room-body").replaceChildren(await part(form));
  keepFocus();
}
// The element with the focus may have left the panel: without this, the next key would be the page's.
function keepFocus() {
  const focused = document.activeElement;
  const isGone = focused === document.body || (panel.contains(focused) && !focused.checkVisibility());
  if (!panel.hidden && isGone) document.getElementById("room-heading").focus();
}
function tell(sentence = "") {
  const notice = panel.querySelector("[role=alert]");
  notice.textContent = sentence;
  notice.hidden = !sentence;
}

async function start() {
  await put("room-start");
  const over = panel.querySelector(".room-record");
  over.hidden = !record();
  fill(over, { over: record()?.code });
  const before = room.led();
  if (before && before.ends > Date.now()) {
    const again = made("button", "", `${word("go-on")} ${before.code}`);
    again.type = "button";
    again.dataset.do = "go on";
    panel.querySelector("[data-do=open]").after(again);
  }
}

async function lead() {
  const { code, link, qr, alone } = room.now;
  beginRecord();
  await put("room-lead");
  for (const place of [panel, big]) fill(place, { code, link });
  big.querySelector("img").src = qr;
  panel.querySelector(".room-alone").hidden = !alone;
  panel.querySelector(".room-vote").addEventListener("toggle", offerQuestion);
  panel.querySelector(".room-sentences").addEventListener("toggle", list);
  panel.querySelector(".room-data").addEventListener("toggle", lookOver);
  document.documentElement.classList.add("room-leads");
  stop = listen(heard, lost, (isReached) => tell(isReached ? "" : word("silent")));
  leads = setInterval(() => Date.now() > quietUntil && show(new URL(location.href)), LOOK);
  window.navigation?.addEventListener("navigate", leaves);
  document.addEventListener("inside-bert-run", runs);
  document.addEventListener("inside-bert-view", viewed);
  vote();
}

function end(sentence, isOver = true) {
  stop();
  clearInterval(leads);
  leads = 0;
  state = {};
  viewed();
  told = "";
  room.set(null);
  if (isOver) room.forget();
  big.close();
  document.documentElement.classList.remove("room-leads");
  start();
  tell(sentence);
}

async function lost() {
  try {
    await act("list");
    return true;
  } catch (error) {
    if (error.status === 404 || error.status === 403) end(error.message);
    return Boolean(room.now);
  }
}

// Another lesson is opened: members are on their way before this page has left.
function leaves({ destination, downloadRequest }) {
  const address = new URL(destination.url);
  if (!leads || address.pathname === location.pathname || downloadRequest !== null) return;
  quietUntil = Date.now() + LEAVING;
  show(address);
}

// A run of Train has begun in this page: all see its curve.
function runs({ detail: run }) {
  if (!leads || run === ran) return;
  ran = run;
  const before = state.run && gather(state, act); // the curve of the run before this one
  Promise.resolve(before).then(() => act("run", { run })).catch((error) => tell(error.message));
}

const act = (what, said = {}) => post("lead", room.now.code, { key: room.now.key, do: what, ...said });

// The stop of a tour that only this browser has; its text may give away the question's answer
function stopOf({ search }) {
  const link = new URLSearchParams(search);
  if (link.get("tour") !== insideBert.ownTour.NAME) return null;
  const stop = insideBert.ownTour.read().tour?.stops[Number(link.get("stop")) - 1];
  const isAsked = document.querySelector("[data-covered]");
  return stop ? { title: stop.title.slice(0, LONGEST_HEADING), text: isAsked ? "" : stop.source[0] } : null;
}

// Sends a page's view, by its address, when the bar has written it: values of this reader alone stay out
function show(address) {
  const place = insideBert.link.placeOf(address);
  const view = place && { ...place, stop: stopOf(address) };
  if (!view || JSON.stringify(view) === told) return;
  told = JSON.stringify(view);
  act("show", view).then(
    () => tell(),
    (error) => {
      tell(error.message);
      told = "";
    },
  );
}

function heard(news, name) {
  state = news;
  for (const place of [panel, big]) fill(place, { here: state.here, sentences: state.sentences ?? 0, collected: state.collected ?? 0 });
  if (name === "over" || name === "moved") end(word(name), name === "over");
  else if (name === "vote" || name === "tally") {
    keepVote(state);
    vote(name);
  }
  else if (name === "sentences") list();
  else if (name === "data" || name === "collected") lookOver();
}

function viewed() {
  hidePicture(panel, state.vote);
  offerQuestion();
}

function offerQuestion() {
  const offer = panel.querySelector("[data-own-question]");
  if (offer) offer.hidden = !insideBert.questions?.asText();
}

function vote(news = "") {
  const now = state.vote;
  const counted = state.tally?.number === now?.number ? state.tally : undefined;
  if (news === "vote" && now) panel.querySelector(".room-vote").open = true;
  for (const place of panel.querySelectorAll("[data-when]")) place.hidden = (place.dataset.when === "vote") !== Boolean(now);
  if (news === "vote") keepFocus();
  for (const place of [panel, big]) {
    const box = place.querySelector(".room-tally");
    box?.replaceChildren();
    if (!now || !box) continue;
    const question = made("p", "room-question", now.question);
    question.dir = "auto";
    box.append(question, tally(now, counted?.tallies ?? now.tallies ?? [now.answers.map(() => 0)]));
  }
  if (now?.revealed && counted?.tallies.length > 1) showMoved(now, counted);
  viewed();
  if (!now) return;
  panel.querySelector("[data-do=reveal]").disabled = now.revealed;
  panel.querySelector("[data-do=again]").disabled = now.round > 1;
}

// Shows the changes of those who voted twice: in a sentence, and drawn on the whole screen
async function showMoved({ answers }, counted) {
  const [inPanel, onScreen] = await Promise.all([movedText(counted), movedText(counted)]);
  if (state.tally !== counted || !state.vote?.revealed) return;
  const { right, moves, tallies } = counted;
  panel.querySelector(".room-tally").append(inPanel);
  big.querySelector(".room-tally").append(onScreen, shift({ answers, right, before: tallies[0], after: tallies[1], moves }));
}

const { list, lookOver, does } = classLists(() => panel, act, () => state);

const DOES = {
  ...does,
  shut,
  async open() {
    const { seconds, ...opened } = await post("open", "", { base: new URL("./", location.href).href.split("?")[0] });
    room.set({ ...opened, ends: Date.now() + 1000 * seconds });
    await lead();
  },
  async "go on"() {
    room.set(room.led());
    await lead();
  },
  big() {
    big.classList.remove("vote");
    big.showModal();
  },
  "big vote"() {
    big.classList.add("vote");
    big.showModal();
  },
  small: () => big.close(),
  async close() {
    await gather(state, act);
    await act("close");
  },
  "save page": () => saved(page),
  "save table": () => saved(table),
  async "own question"() {
    const { names, ...asked } = insideBert.questions.asText();
    const { vote: number } = await act("ask", asked);
    const right = (await insideBert.questions.right()).map((name) => names.indexOf(name));
    act("mark", { vote: number, right }).catch((error) => tell(error.message));
  },
  again: () => act("again"),
  reveal: () => act("reveal"),
  "end vote": () => act("end vote"),
};

async function saved(make) {
  if (leads) await gather(state, act); // a room that is over has nothing more
  insideBert.page.save(await make(record()));
}

async function clicked({ target }) {
  const button = target.closest("button[data-do]");
  if (!button) return;
  tell();
  try {
    await DOES[button.dataset.do](button);
  } catch (error) {
    tell(error.message);
  }
}

async function sent(event) {
  event.preventDefault();
  const form = event.target;
  const given = new FormData(form);
  tell();
  try {
    if (form.dataset.form === "join") {
      room.set({ ...(await post("join", String(given.get("code")).trim(), {})), following: true });
      shut();
      (await import("./member.js")).begin();
    } else if (form.dataset.form === "collect") {
      const classes = String(given.get("classes")).split("\n").map((name) => name.trim());
      await act("collect", { classes: classes.filter(Boolean) });
      form.reset();
    } else {
      const written = given.getAll("answer").map((answer) => String(answer).trim());
      const marked = written[Number(given.get("right")) - 1];
      const answers = written.filter(Boolean);
      await act("ask", { question: given.get("question"), answers, right: marked ? [answers.indexOf(marked)] : [] });
      form.reset();
    }
  } catch (error) {
    tell(error.message);
  }
}
