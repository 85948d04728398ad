"""The code as a notebook, made by the page's own script: valid by nbformat, and run in an empty folder.

Every panel's notebook is run, and every data set's recipe; none is only compiled. `SHORTER` names what is made shorter.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Page, expect

from demos.bert.embeddings.pooling import Choice
from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.pretraining.corruption import Shares
from demos.bert.translation.grammar import held_out
from demos.figures.program import embeddings_code
from demos.figures.training_program import program_of
from demos.lessons.finetune.ready.part import ready_code
from demos.lessons.pretraining.corruption.text import corrupt_code
from demos.lessons.translation.search.figure import search_code
from demos.lessons.translation.targets.figure import targets_code
from demos.lessons.translation.training.figure import training_code
from demos.page.delivery.program_files import AT, program_files
from demos.page.services import Services
from demos.training.export.recipe_file import Recipe
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.translation.training import Plan
from tests.lessons.test_counting import INDEX, unexplained
from tests.panels import panels

ROOT = Path(__file__).resolve().parents[2]
FEW = (r"^print\(len\(train\)", "train, test = train[:16], test[:8]\nprint(len(train)")
SHORTER = {  # by panel: where all of it would take seconds and more
    "finetune-train": [(r"^(epochs, .* =) \d+", r"\1 1"), FEW],
    "finetune-layer_mix": [(r" range\((60|10)\)", " range(1)"), (r'(splits\["t\w+"\])(,|$)', r"\1[:20]\2")],
    "translation-training": [(r"^(steps, seed =) \d+", r"\1 5")],
    "embeddings-anisotropy": [(r"\[1:201\]$", "[1:41]")],
    "embeddings-siamese": [
        (r"^(epochs, .* =) \d+", r"\1 1"), (r"^(train = .*)", r"\1[::5]\nheld_out = held_out[:9]"),
    ],
    "embeddings-tensors": [(r"^(rows = .*)", r"\1[::3]")],
    "embeddings-frozen_features": [(r"^(    rows = .*)", r"\1[::5]")],
    "family-decoder": [(r"^(for _ in range)\(40\)", r"\1(3)")],
    "family-late_interaction": [(r"^(    sentences = .*)\[1:\]$", r"\1[1:41]")],
}  # fmt: skip
DIGEST = "print(hashlib.sha256(open(name, 'rb').read()).hexdigest())"
BRIEF = Settings(epochs=1, batch_size=8, max_length=48)


def made(page: Page, programs: Mapping[str, str], folder: Path) -> list[Path]:
    """A notebook for each program, valid, with the program's own lines in its last cells."""
    paths = []
    for name, program in programs.items():
        text = json.dumps(page.evaluate("(code) => insideBert.notebook('A title', code)", program))
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        own = "\n".join(cells[cells.index(program.strip().partition("\n\n")[0]) :]).splitlines()
        lines = [line for line in program.splitlines() if line.strip() and not line.startswith("# Step")]
        assert [line for line in own if line.strip()] == lines
        paths.append(folder / f"{name}.ipynb")
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def ended(notebooks: list[Path]) -> list[dict[str, Any]]:
    """The runner's record of each notebook: its name, whether it ran to its end, its seconds and its output."""
    command = [sys.executable, "-m", "tests.notebook_runner", *map(str, notebooks)]
    env = os.environ | {"no_proxy": "127.0.0.1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3_000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    print(*(f"{notebook['seconds']} s: {notebook['name']}" for notebook in lines), sep="\n")  # -rP shows it
    assert [notebook["name"] for notebook in lines] == [notebook.stem for notebook in notebooks]
    return lines


def run(notebooks: list[Path]) -> dict[str, str]:
    """The output of each notebook; all must run to their ends without looking up a name of the Hub."""
    lines = ended(notebooks)
    faulty = [f"{notebook['name']}:\n{notebook['printed']}" for notebook in lines if not notebook["ran"]]
    assert not faulty, "\n".join(faulty)
    return {notebook["name"]: notebook["printed"] for notebook in lines}


def shortened(name: str, program: str) -> str:
    for pattern, replacement in SHORTER.get(name, ()):
        program, number = re.subn(pattern, replacement, program, flags=re.MULTILINE)
        assert number, f"{name} has no {pattern}"
    return program


@pytest.mark.minutes
def test_every_panels_notebook_runs(open_lesson: Callable[..., Page], store: ModelStore, tmp_path: Path) -> None:
    """And each says what the page calls its layer and head."""
    programs = {name: shortened(name, program) for name, program in panels(Services(store, BUNDLED))}
    assert programs.keys() > SHORTER.keys()
    with_index = {name for name, program in programs.items() if INDEX.search(program)}
    assert with_index >= {
        "attention-heads", "attention-rollout", "attention-ablation", "attention-compare", "family-attention",
        "encoder-self_attention", "encoder-block", "encoder-matrices", "encoder-masks",
    }  # fmt: skip
    assert not {name: lines for name, program in programs.items() if (lines := unexplained(program))}
    printed = run(made(open_lesson("tokens"), programs, tmp_path))
    assert all(printed.values())


@pytest.mark.minutes
def test_every_recipes_notebook_runs(open_lesson: Callable[..., Page], bundled: LoadedModel, tmp_path: Path) -> None:
    """And programs that no panel shows at first, of another kind than those that it does."""
    spec, pair = CATALOGUE[BUNDLED], held_out()[3]
    lora = Settings(epochs=1, batch_size=8, max_length=48, trains="lora")
    recipes = {f"recipe-{data}": Recipe(BUNDLED, source.kind, data, settings=BRIEF) for data, source in SOURCES.items()}
    files = [address.removeprefix(AT) for address in program_files()]
    recipes["recipe-lora"] = Recipe(BUNDLED, "sentence", "emotion", settings=lora)
    programs = {name: re.sub(*FEW, program_of(spec, recipe), flags=re.MULTILINE) for name, recipe in recipes.items()}
    encoding = encode(bundled.tokenizer, "The cat sat on the mat.")
    programs |= {
        "files": f"import hashlib\n\nfor name in {files!r}:\n    {DIGEST}",
        "corruption-by-frequency": corrupt_code(spec, encoding, 1, Shares(), False, by_frequency=True),
        "dates": training_code(Plan("dot", 25, 1, "dates")),
        "paragraphs-in-a-text": embeddings_code(spec, ["one", "two\n\nthree"], Choice("mean", 6)),
        "search-additive": search_code("additive", pair.source, 2, 1.0),
        "search-transformer": search_code("transformer", pair.source, 2, 1.0),
        "targets-additive": targets_code("additive", pair.source, pair.target),
        "training-transformer": training_code(Plan("transformer", 25)),
    }
    printed = run(made(open_lesson("tokens"), programs, tmp_path))
    assert printed["files"].split()[-len(files) :] == [sha256((ROOT / name).read_bytes()).hexdigest() for name in files]
    for name in recipes:
        trained = re.search("16 examples for training, 8 for the test\n[^*]*epoch 1: last batch's loss", printed[name])
        assert trained, printed[name]


def test_a_recipe_is_saved_by_its_button_and_runs_in_a_kernel(
    open_lesson: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_lesson("finetune", epochs=1, most=50, batch_size=16)
    expect(page.locator("#finetune-walk [data-lines]")).to_have_count(9)
    page.locator("#finetune-walk [data-lines]").last.click()
    page.wait_for_function("CSS.highlights.has('walk')")
    assert "# Step 5: evaluate" in page.evaluate("[...CSS.highlights.get('walk')].join('')")
    with page.expect_download() as saved:
        page.locator("#finetune-train-code .notebook").click()
    assert saved.value.suggested_filename == "finetune-train.ipynb"
    notebook = nbformat.reads(Path(saved.value.path()).read_text(encoding="utf-8"), as_version=4)
    nbformat.validate(notebook)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # what its %pip asks for is there
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    (tmp_path / "run").mkdir()
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path / "run")}}).execute()
    assert re.search(r"test accuracy 0\.\d+", str(notebook.cells[-1].outputs))


HEADS = "assets/pretraining/heads.safetensors"
ALONE = """import socket

def refuse(*arguments):
    raise OSError("no network")

socket.socket.connect = refuse"""


def alone(page: Page, program: str, path: Path, before: str = "") -> nbformat.NotebookNode:
    """The program's notebook, saved, with a cell put first after which nothing can be reached, and perhaps another."""
    text = json.dumps(page.evaluate("(code) => insideBert.notebook('A title', code)", program))
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    cells = [nbformat.v4.new_code_cell(source) for source in (ALONE, before) if source]
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells, *notebook.cells]), path)
    return notebook


def test_a_notebook_brings_its_weights_along_says_what_it_fetches_and_what_it_installs(
    open_lesson: Callable[..., Page], app_url: str, tmp_path: Path
) -> None:
    """A notebook runs without the page: with the weights in it, with the file beside it, without either.

    It installs no package that is called as the project's own folder; of others, what they need without an import too.
    """
    page = open_lesson("tokens")
    text, question = "Sylvain lives in Brooklyn.", "Where does Sylvain live?"
    program = ready_code(text, [text], [text], question, ["sentence", "entities", "question"])
    notebook = alone(page, program, tmp_path / "ready.ipynb")
    text = json.dumps(notebook)
    assert "urlretrieve" not in text
    assert app_url.split("//")[1].strip("/") not in text
    carried = [cell for cell in notebook.cells if re.search(r"^%%writefile|b64decode", cell.source)]
    assert len(carried) == len(set(re.findall(r"assets/[\w./]+", program)))
    assert all(cell.metadata.jupyter.source_hidden for cell in carried)

    program = f"from safetensors.torch import load_file\n\nprint(len(load_file({HEADS!r})), 'tensors')"
    copied = f"import shutil\nshutil.copy({str(ROOT / HEADS)!r}, '.')"
    notebook = alone(page, program, tmp_path / "beside.ipynb", copied)
    first = notebook.cells[0].source
    assert "Inside BERT must be running at that address" in first
    assert first.count(app_url.rstrip("/")) == 2  # where it fetches from, and the link to the file
    alone(page, program, tmp_path / "missing.ipynb")
    ready, beside, missing = ended([tmp_path / f"{name}.ipynb" for name in ("ready", "beside", "missing")])
    assert ready["ran"], ready["printed"]
    assert ready["printed"]
    assert beside["ran"], beside["printed"]
    assert " tensors" in beside["printed"]
    assert not missing["ran"]
    assert "Start Inside BERT there, or put heads.safetensors beside this notebook" in missing["printed"]

    ours = page.evaluate("(code) => insideBert.notebook('A title', code)", "from demos.files import ASSETS\nprint(1)")
    assert ours["cells"][1]["source"] == ["%pip install -q -r requirements.txt"]
    assert "`demos/`" in "".join(ours["cells"][0]["source"])
    theirs = page.evaluate(
        "(code) => insideBert.notebook('A title', code)",
        "import pandas as pd\nfrom transformers import AutoModelForSeq2SeqLM\npd.read_excel('a.xlsx')",
    )
    (line,) = theirs["cells"][1]["source"]
    assert all(name in line for name in ("openpyxl>=", "pandas", "sentencepiece", "transformers>="))
