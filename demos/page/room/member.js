// A member of a room: a slim line at the foot of the page, a vote while there is one, and the lecturer's view.
import { address, fill, hidePicture, listen, made, part, post, readWords, room, tally, word } from "./parts.js";

const HALVES = /\p{Surrogate}/gu; // of characters, which no JSON can say
const READY = 100; // milliseconds between two checks whether the page shows what its link says
let line;
const shape = document.documentElement.classList; // its classes reserve room on the page
/** @type {RoomState} */
let state = {};
let stop = () => {};
let isReached = true; // the server

export async function begin() {
  await readWords();
  document.body.append(await part("room-member"));
  shape.add("in-room");
  line = document.getElementById("room-line");
  line.addEventListener("click", clicked);
  line.addEventListener("submit", sent);
  await stands();
  if (!room.now.member && !(await join())) return;
  const { applied } = room.now;
  // a reader who followed a link to another lesson is not to be taken back at once
  if (applied && JSON.parse(applied).lesson !== insideBert.link.place().lesson) room.set({ following: false });
  show();
  stop = listen(heard, join, reached);
  document.addEventListener("inside-bert-view", hide);
}
const hide = () => hidePicture(line, room.now?.following ? state.vote : null);

const stands = async () => {
  while (!insideBert.link.place()) await new Promise((resolve) => setTimeout(resolve, READY));
};

// -> whether this tab is in the room (again)
async function join() {
  try {
    room.set(await post("join", room.now.code, {}));
    return true;
  } catch (error) {
    if (!error.status) return true;
    end(error.message);
    return false;
  }
}

function heard(news, name) {
  state = news;
  if (name === "over") end(word("over"));
  else if (name === "moved") end(word("moved"));
  else if (name === "view") go();
  else if (name === "stop") card();
  else if (name === "vote") vote();
  else if (name === "run") run();
  else if (name === "data") collect();
}

// A data set that the class writes: one's own sentences, and those of others to label
async function collect() {
  for (const form of line.querySelectorAll(".room-collect")) {
    form.hidden = !state.data || form.dataset.form === "label";
    form.querySelector(".room-classes").replaceChildren(
      ...(state.data?.classes ?? []).map((name, place) => Object.assign(made("button", "", name), { value: place })),
    );
  }
  if (state.data) toLabel(await post("label", room.now.code, { member: room.now.member }).catch(() => ({})));
}

function toLabel({ next }) {
  const form = line.querySelector("[data-form=label]");
  if (!form) return; // the room ended meanwhile
  form.hidden = !next;
  if (!next) return;
  form.dataset.number = next[0];
  form.querySelector(".room-question").textContent = next[1];
}

// The lecturer's run: Train draws its curve (live_curve/script.js); its model may be used here.
function run() {
  room.run = state.run;
  room.curve = async ([steps, looks]) => {
    const { code, member } = room.now ?? {};
    const answer = code && (await fetch(address("curve", { room: code, key: member, steps, looks })).catch(() => null));
    return answer?.ok ? answer.text() : "";
  };
  line.querySelector("[data-do=try]").hidden = false;
  document.dispatchEvent(new CustomEvent("inside-bert-room-run"));
}

function go() {
  const said = JSON.stringify(state.view);
  if (!state.view || !room.now.following || said === room.now.applied) return;
  room.set({ applied: said });
  insideBert.link.goTo(state.view.lesson, state.view.query);
}

// Shows the lecturer's own text of this stop
function card() {
  const box = line.querySelector(".room-stop");
  box.hidden = !state.stop || !room.now.following;
  shape.toggle("room-says", !box.hidden);
  box.querySelector("summary").textContent = state.stop?.title ?? "";
  box.querySelector("div").innerHTML = state.stop?.html ?? ""; // made by the server of Markdown in which no HTML counts
}

function reached(now) {
  isReached = now;
  show(now ? "" : word("silent"));
}

function show(told = "") {
  const { code, following } = room.now;
  const doing = following ? "following" : "free";
  line.classList.toggle("free", !following || !isReached);
  fill(line, { code, state: word(isReached ? doing : "away"), turn: word(following ? "let-go" : "follow") });
  card();
  tell(told);
}
const tell = (told = "") => (line.querySelector(".room-told").textContent = told);

// The room is over, or can't be joined: its line says so until it is pressed away.
function end(told) {
  stop();
  room.set(null);
  hide();
  for (const gone of line.querySelectorAll("form, .room-stop, .room-row > :not([data-do=leave])")) gone.remove();
  shape.remove("room-says");
  tell(told);
}

async function clicked({ target }) {
  const button = target.closest("button[data-do]");
  if (button?.dataset.do === "turn") {
    room.set({ following: !room.now.following, applied: "" });
    show();
    hide();
    go();
  } else if (button?.dataset.do === "say" || button?.dataset.do === "try") {
    const form = line.querySelector(`[data-form=${button.dataset.do}]`);
    form.hidden = !form.hidden;
    button.setAttribute("aria-expanded", String(!form.hidden));
    if (!form.hidden) form.elements.sentence.focus();
  } else if (button?.dataset.do === "leave") {
    const now = room.now;
    stop();
    room.set(null);
    hide();
    line.remove();
    shape.remove("in-room", "room-says");
    document.getElementById("room-button")?.focus();
    if (now) await post("leave", now.code, { member: now.member }).catch(() => {});
  }
}

async function sent(event) {
  event.preventDefault();
  const form = event.target;
  try {
    const { code, member } = room.now;
    const sentence = form.elements.sentence?.value.replace(HALVES, "\ufffd");
    if (form.dataset.form === "say") {
      await post("say", code, { member, sentence });
      form.reset();
      tell(word("sent"));
    } else if (form.dataset.form === "write") {
      toLabel(await post("label", code, { member, sentence, label: Number(event.submitter.value) }));
      form.reset();
      form.elements.sentence.focus();
      tell(word("added"));
    } else if (form.dataset.form === "label") {
      toLabel(await post("label", code, { member, number: Number(form.dataset.number), label: Number(event.submitter.value) }));
      tell();
    } else if (form.dataset.form === "try") {
      const { classes } = await post("try", code, { member, sentence });
      const rows = classes.map(([name, share]) => made("li", "", `${name} ${(100 * share).toFixed(0)}%`));
      form.querySelector("ol").replaceChildren(...rows);
      tell();
    } else {
      const place = Number(event.submitter.value);
      const { number, round } = state.vote;
      await post("say", code, { member, answer: place, vote: number, round });
      room.set({ answered: { number, round, place } });
      vote();
    }
  } catch (error) {
    tell(error.message);
  }
}

// The answer that this tab gave in the round under way
function chosen() {
  const { answered } = room.now;
  return answered?.number === state.vote.number && answered.round === state.vote.round ? answered.place : undefined;
}

function vote() {
  const form = line.querySelector(".room-ballot");
  const now = state.vote;
  hide();
  const isNew = now && form.dataset.now !== `${now.number} ${now.round} ${now.revealed}`;
  form.hidden = !now;
  if (!now) return;
  form.dataset.now = `${now.number} ${now.round} ${now.revealed}`;
  form.querySelector(".room-question").textContent = now.question;
  const place = form.querySelector(".room-answers");
  if (now.revealed) place.replaceChildren(tally(now, now.tallies, chosen()));
  else if (isNew) {
    place.replaceChildren(
      ...now.answers.map((answer, number) => {
        const button = Object.assign(made("button", "", answer), { value: number });
        button.dir = "auto";
        return button;
      }),
    );
  }
  for (const button of place.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.value) === chosen()));
  form.querySelector(".told").textContent = !now.revealed && chosen() !== undefined ? word("answered") : "";
  tell("");
}
