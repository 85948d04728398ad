// The boxes of "Your questions" (Leitner's): a question is repeated after its box's days. Answered correctly by then, it
// moves to the next box; else back to the first. This browser alone keeps them.
insideBert.boxes = (() => {
  const VERSION = 1; // of what is kept, here and in a file
  const STORE = `inside-bert-questions-${VERSION}`;
  const FORMER = "inside-bert-predictions"; // before there were boxes: [{ of, said, right }]
  const KEPT = "inside-bert-questions-kept"; // the event that says so in this tab
  const DAYS = [1, 7, 30]; // of each box
  const LONGEST = 120; // characters of an answer
  const DAY = /^\d{4}-\d{2}-\d{2}$/; // as the reader's calendar has it
  const { names } = window.questions;

  const plus = (day, days) => new Date(Date.parse(day) + 86_400_000 * days).toISOString().slice(0, 10);
  const dueOn = ({ box, on }) => plus(on, DAYS[box - 1]);
  function today() {
    const now = new Date();
    return new Date(now.getTime() - 60_000 * now.getTimezoneOffset()).toISOString().slice(0, 10);
  }

  // {box, on: the day it came there} of a question after an answer on this day: `right`, wrong (false), or waived (null).
  // One that is not due stays where it is, unless the answer was wrong.
  function moved(card, right, day) {
    if (!card || right === false) return { box: 1, on: day };
    if (dueOn(card) > day) return { box: card.box, on: card.on };
    return { box: right ? Math.min(card.box + 1, DAYS.length) : 1, on: day };
  }

  // Another page of this address, or the writer of a file, may have put anything there: all but cards is left out.
  const isCard = (one) =>
    typeof one?.of === "string" && Object.hasOwn(names, one.of) &&
    DAYS[one.box - 1] !== undefined && typeof one.on === "string" && DAY.test(one.on) && !Number.isNaN(Date.parse(one.on)) &&
    [true, false, null, undefined].includes(one.right) && ["string", "undefined"].includes(typeof one.said);
  function cardsOf(found) {
    const day = today();
    const cards = new Map();
    for (const one of Array.isArray(found) ? found : []) {
      if (!isCard(one) || cards.has(one.of)) continue;
      const { of, box, on, right, said = "" } = one;
      cards.set(of, { of, box, on: on > day ? day : on, right, said: said.slice(0, LONGEST) }); // a clock may have been wrong
    }
    return [...cards.values()];
  }
  const read = (text) => {
    const { version, questions } = JSON.parse(text) ?? {};
    return version === VERSION ? cardsOf(questions) : undefined;
  };
  const written = (cards) => JSON.stringify({ version: VERSION, questions: cards });

  // Read each time: another tab may have written since
  function all() {
    try {
      const text = localStorage.getItem(STORE);
      if (text !== null) return read(text) ?? [];
      const former = JSON.parse(localStorage.getItem(FORMER));
      return cardsOf(former?.map(({ of, said, right }) => ({ of: of.replace(/\/$/, ""), said, right, box: 1, on: today() })));
    } catch {
      return []; // private windows refuse storage
    }
  }
  // -> whether they are kept
  function keep(cards) {
    try {
      if (cards.length) localStorage.setItem(STORE, written(cards));
      else localStorage.removeItem(STORE);
      localStorage.removeItem(FORMER);
    } catch {
      return false; // as above
    } finally {
      document.dispatchEvent(new Event(KEPT));
    }
    return true;
  }
  window.addEventListener("storage", ({ key }) => [STORE, null].includes(key) && document.dispatchEvent(new Event(KEPT)));

  const without = (of) => all().filter((one) => one.of !== of);
  return {
    KEPT,
    all,
    dueOn,
    moved,
    today,
    date: (day) => new Date(`${day}T12:00`).toLocaleDateString("en", { day: "numeric", month: "long" }),
    due: (day = today()) => all().filter((card) => dueOn(card) <= day),
    // An answer to a question -> the day on which the question is repeated
    answered(of, right, said) {
      const card = { of, ...moved(all().find((one) => one.of === of), right, today()), right, said: said.slice(0, LONGEST) };
      keep([card, ...without(of)]);
      return dueOn(card);
    },
    // The part of a question was seen, whether or not its question was answered
    saw(of) {
      if (!all().some((one) => one.of === of)) keep([{ of, box: 1, on: today() }, ...all()]);
    },
    forget: (isMeant = () => true) => keep(all().filter((card) => !isMeant(card))),
    asFile: () => written(all()),
    // The text of a file, joined to what is here; of two cards of a question the later one counts. -> how many came;
    // undefined for another kind of file, -1 where they can't be kept
    takeFile(text) {
      let came;
      try {
        came = read(text);
      } catch {
        // no JSON
      }
      if (!came?.length) return undefined;
      const later = [...came, ...all()].sort((a, b) => (a.on < b.on ? 1 : a.on > b.on ? -1 : 0));
      return keep(cardsOf(later)) ? came.length : -1;
    },
  };
})();
