// The panel "Your questions": which are due, their file, and a lecturer's link to a set. Runs once, when it is first opened.
(() => {
  const { boxes, page: { made, save } } = insideBert;
  const { review } = insideBert.yourQuestions;
  const LARGEST = 100_000; // bytes of a file
  const FILE = "your-questions.json";
  const dialog = document.getElementById("your-questions");
  /** @param {string} selector */
  const part = (selector) => dialog.querySelector(selector);
  const word = (name) => part("template[data-words]").content.querySelector(`[data-word="${name}"]`).textContent;
  const say = (text = "") => (part("[data-told]").textContent = text);
  const chosen = []; // names for a class's link, in the order in which they were ticked

  function line(card, isDue) {
    const item = document.createElement("li");
    if (isDue) item.append(made("a", { href: review.address(card.of) }, review.title(card.of)));
    else item.append(`${review.title(card.of)}: ${boxes.date(boxes.dueOn(card))}`);
    return item;
  }
  function show() {
    const cards = boxes.all().sort((a, b) => boxes.dueOn(a).localeCompare(boxes.dueOn(b)));
    const isDue = (card) => boxes.dueOn(card) <= boxes.today();
    const [due, later] = [cards.filter(isDue), cards.filter((card) => !isDue(card))];
    part("[data-due]").replaceChildren(...due.map((card) => line(card, true)));
    part("[data-later] ol").replaceChildren(...later.map((card) => line(card, false)));
    part("[data-later] summary span").textContent = String(later.length);
    part("[data-later]").hidden = !later.length;
    part("[data-none]").textContent = due.length ? "" : word(later.length ? "none-due" : "none");
    for (const button of dialog.querySelectorAll("[data-do=export], [data-do=forget]")) button.disabled = !cards.length;
  }

  async function composed() {
    for (const box of dialog.querySelectorAll("[name=review]")) {
      const place = chosen.indexOf(box.value);
      box.checked = place >= 0;
      box.parentElement.querySelector(".place").textContent = place >= 0 ? `(${place + 1})` : "";
    }
    const names = [...chosen];
    for (const place of dialog.querySelectorAll("[data-link], [data-alone], [data-code]")) place.hidden = true;
    if (!names.length) return;
    const base = new URL("./", location.href).href;
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ base, names }) };
    const answer = await fetch("./your-questions/link", options).catch(() => undefined);
    if (names.join() !== chosen.join()) return; // another box was ticked meanwhile
    const { link, qr, alone } = answer?.ok ? await answer.json() : { link: `${base}?review=${names}`, qr: "", alone: false };
    part("[data-link] input").value = link;
    part("[data-code]").src = qr;
    part("[data-link]").hidden = false;
    part("[data-code]").hidden = !qr;
    part("[data-alone]").hidden = !alone;
  }

  const does = {
    close: () => dialog.close(),
    export: () => save(new Blob([boxes.asFile()], { type: "application/json" }), FILE),
    forget() {
      boxes.forget();
      say(word("forgotten"));
      part("h2").focus();
    },
    async copy() {
      const field = part("[data-link] input");
      field.select(); // where the browser lets no page write to the clipboard, Ctrl+C does
      const isCopied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
      say(word(isCopied ? "copied" : "selected"));
    },
  };
  dialog.addEventListener("click", ({ target }) => {
    const name = target.closest("[data-do]")?.dataset.do;
    if (!name) return;
    say();
    does[name]();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the arrows would turn a tour, Escape would end it
  part("[data-file]").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    const came = file.size > LARGEST ? undefined : boxes.takeFile(await file.text());
    target.value = ""; // the same file again, mended
    say(came === undefined ? word("no-file") : came < 0 ? word("unkept") : `${word("imported")} ${came}.`);
  });
  dialog.addEventListener("change", ({ target }) => {
    if (target.name !== "review") return;
    if (target.checked) chosen.push(target.value);
    else chosen.splice(chosen.indexOf(target.value), 1);
    composed();
  });
  document.addEventListener(boxes.KEPT, show);

  insideBert.yourQuestions.open = () => {
    say();
    show();
    dialog.showModal();
    part("h2").focus();
  };
})();
