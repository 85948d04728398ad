// The walk's steps and GLUE's tasks: a press on a step shows the step's control or its lines of the code.
const folds = { code: "#finetune-train-code", controls: "#finetune-train-controls" };
let pointed;
const sheet = new CSSStyleSheet(); // Gradio's own sheets take no ::highlight
sheet.replaceSync("::highlight(walk) { background-color: Highlight; color: HighlightText; }");
document.adoptedStyleSheets.push(sheet);

function point(found) {
  pointed?.classList.remove("pointed");
  pointed = found;
  found.classList.add("pointed");
  found.scrollIntoView({ block: "center" });
}

// Marks these lines, counted from 1; the editor redraws a line whose class is changed, so its elements are left alone.
function mark(view, first, last) {
  const { doc } = view.state;
  const [begin, end] = [doc.line(first).from, doc.line(Math.min(last, doc.lines)).to];
  view.dispatch({ effects: view.constructor.scrollIntoView(begin, { y: "center" }) }); // it holds the lines in sight alone
  setTimeout(() => {
    const range = new Range();
    for (const [set, at] of [["setStart", begin], ["setEnd", end]]) {
      const { node, offset } = view.domAtPos(at);
      range[set](node, offset);
    }
    globalThis.CSS?.highlights?.set("walk", new Highlight(range));
  }, 100);
}

function open(fold) {
  const head = document.querySelector(`${fold} > button`);
  if (head && !head.classList.contains("open")) head.click();
}

// Waits until `find` returns an element: a fold's content is made when it is first opened.
async function awaited(find) {
  for (let tries = 0; tries < 200; tries++) {
    const found = find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

const shown = (names) => names.split(" ").map((name) => document.getElementById(name)).find((one) => one?.getClientRects().length);

function editor(last) {
  const content = document.querySelector(`${folds.code} .cm-content`);
  const view = (content?.cmTile ?? content?.cmView)?.view; // CodeMirror's own handle, by its name of now or before
  return view?.state.doc.lines >= last ? view : undefined;
}

// A task of GLUE: its name is put into the Hub's box, beside the button "Fetch".
document.addEventListener("click", (event) => {
  const name = event.target.closest?.("#finetune-data [data-hub]")?.dataset.hub;
  const box = name && document.querySelector("#finetune-hub :is(input, textarea)");
  if (!box) return;
  box.value = name;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  document.getElementById("finetune-fetch")?.focus();
});

element.addEventListener("click", async (event) => {
  const { at, lines } = event.target.closest?.("button")?.dataset ?? {};
  if (!at && !lines) return;
  if (lines) {
    const [first, last] = lines.split("-").map(Number);
    open(folds.code);
    const view = await awaited(() => editor(last));
    if (!view) return;
    mark(view, first, last);
  } else {
    if (!shown(at)) open(folds.controls);
    const found = await awaited(() => shown(at));
    if (found) point(found);
  }
});
