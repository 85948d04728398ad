// The class's contributions, for the lecturer alone: sentences to pick one from, and a data set to look over.
import { made, part, room, word } from "./parts.js";
import { keepPicked } from "./record.js";
import { agreementOf } from "./report.js";

const FRESH = 1000; // milliseconds between two looks at a data set that grows

// `panel` gives the lecturer's panel, `act` sends a request, `news` gives the room's last state. -> the functions that show
// both lists, and the buttons' actions by name
export function classLists(panel, act, news) {
  async function list() {
    const fold = panel().querySelector(".room-sentences");
    if (!fold?.open) return; // the hall sees this screen: the list is shown on request
    const { sentences } = await act("list");
    const rows = [];
    for (const [number, text] of sentences) {
      const row = (await part("room-sentence")).firstElementChild;
      row.dataset.number = number;
      row.querySelector(".said").textContent = text;
      rows.push(row);
    }
    fold.querySelector("ul").replaceChildren(...(rows.length ? rows : [made("li", "aside", word("no-sentences"))]));
  }

  // The data set's present state; requested again a while after a contribution has arrived
  let looking;
  function lookOver() {
    const fold = panel().querySelector(".room-data");
    const on = Boolean(news().data);
    fold.querySelector("[data-if]").hidden = !on;
    fold.querySelector("[data-unless]").hidden = on;
    if (on && fold.open) looking ??= setTimeout(showCollected, FRESH);
  }

  async function showCollected() {
    looking = undefined;
    const fold = panel().querySelector(".room-data");
    if (!news().data || !fold?.open) return;
    const collected = await act("collected").catch(() => undefined);
    if (!collected) return;
    const { classes, counts, listed } = collected;
    fold.querySelector(".room-counts").textContent = classes.map((name, place) => `${name}: ${counts[place]}`).join(" · ");
    fold.querySelector(".room-agreement").textContent = agreementOf(collected);
    const rows = [];
    for (const { number, text, counts: given } of listed.reverse()) {
      const row = (await part("room-collected")).firstElementChild;
      row.dataset.number = number;
      row.querySelector(".said").textContent = text;
      row.querySelector(".aside").textContent = classes.flatMap((name, place) => (given[place] ? [`${name} ${given[place]}`] : [])).join(", ");
      rows.push(row);
    }
    fold.querySelector("ul").replaceChildren(...rows);
  }

  // As Fine-tune reads it
  async function collectedFile() {
    const { rows } = await act("collected");
    return new File([JSON.stringify(rows, null, 1)], `class-${room.now.code}.json`, { type: "application/json" });
  }

  const does = {
    clear: () => act("clear"),
    "end collecting": () => act("end collecting"),
    "drop collected": (button) => act("drop collected", { sentence: Number(button.closest("li").dataset.number) }),
    save: async () => insideBert.page.save(await collectedFile()),
    async "train on it"() {
      const view = { part: "train", task: "sentence", data: "file" };
      if (!(await insideBert.link.openWithFile("finetune", view, await collectedFile()))) throw new Error(word("silent"));
    },
    async pick(button) {
      const row = button.closest("li");
      const sentence = row.querySelector(".said").textContent;
      insideBert.link.say(sentence);
      keepPicked(sentence);
      await does.drop(button);
    },
    drop: (button) => act("drop", { sentence: Number(button.closest("li").dataset.number) }),
  };

  return { list, lookOver, does };
}
