// A set of questions as a tour (tours/tour.js): ?review=lesson/part,… opens one after the other, each before its picture.
// And the press "Your questions", wherever it is.
insideBert.yourQuestions.review = (() => {
  const MOST = 100; // names of a link
  const { names, sentences } = window.questions;
  const link = new URLSearchParams(location.search);
  const said = (link.get("review") ?? "").split(",").map((name) => name.trim()).filter(Boolean);
  const wanted = [...new Set(said)].slice(0, MOST);
  const known = wanted.filter((name) => Object.hasOwn(names, name));

  const title = (name) => [...new Set([names[name].lesson, names[name].tab])].join(" > ");

  // The stop of a tour that shows this question. One about a sentence is about another one each day, and not the one in use.
  function stop(name, number, inUse = "") {
    const [lesson, part] = name.split("/");
    const query = new URLSearchParams(part ? { part } : {});
    const others = sentences.filter((one) => one !== inUse);
    const day = Date.parse(insideBert.boxes.today()) / 86_400_000;
    if (names[name].about) query.set("text", others[(day + number) % others.length]);
    return { title: title(name), lesson, query: query.toString(), light: "", asks: true, text: "", notes: "" };
  }

  const BUTTON = "your-questions-button";
  function label(button) {
    const count = insideBert.boxes.due().length;
    button.textContent = count ? `Your questions: ${count} due` : "Your questions";
  }
  document.addEventListener(insideBert.boxes.KEPT, () => document.querySelectorAll(`.${BUTTON}`).forEach(label));

  return {
    unknown: wanted.filter((name) => !known.includes(name)),
    names: known,
    title,
    tour: () => ({ title: "Questions", stops: known.map((name, at) => stop(name, at + 1)) }),
    // The address at which one question of this reader's is shown
    address: (name) => insideBert.tour.address("review", name, 1, stop(name, 1, insideBert.link.view().text)),
    button() {
      const open = async () => {
        await insideBert.page.bring("./your-questions", "your-questions");
        insideBert.yourQuestions.open();
      };
      const button = Object.assign(document.createElement("button"), { type: "button", className: BUTTON, onclick: open });
      label(button);
      return button;
    },
  };
})();
