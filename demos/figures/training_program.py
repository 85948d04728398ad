"""The Fine-tune lesson's recipe as a program with torch, transformers and scikit-learn alone; and its steps' lines."""

import re
from dataclasses import dataclass
from typing import Any

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import POOLING, model_lines
from demos.templates import templates
from demos.training.data.benchmarks import data_id, glue_task
from demos.training.data.hub_data import hub_name
from demos.training.data.splits import MAX_TEST, MAX_TRAIN
from demos.training.export.data_program import reading_of
from demos.training.export.recipe_file import Recipe
from demos.training.export.transformers_folder import STOCK, form_of
from demos.training.form_values import HUB, UPLOAD
from demos.training.learning.earlier import head_of
from demos.training.metrics import MCC
from demos.training.presets import learns_from_pairs
from demos.training.settings import Settings
from demos.training.tasks.question_answering.data import MAX_VALIDATION
from demos.training.tasks.similarity.data import width_of

TEXT = templates(__file__, "text_training_program.txt")
FLAT = "vectors = nn.functional.pad(states * mask, (0, 0, 0, longest - states.shape[1])).flatten(1)"
OUTPUTS = {"entities": "len(labels)", "question": "2", "choice": "1", "similarity": "1"}
MORE_IMPORTS = {
    "similarity": ("from scipy.stats import pearsonr, spearmanr",),
    "labels": ("from sklearn.metrics import f1_score",),
}


@dataclass(frozen=True)
class EarlierRun:
    """A run that a recipe begins with, as a program loads it from its downloaded folder."""

    number: int
    auto: str  # the class of transformers that loads it
    own: bool  # whether that class lies in the folder
    keeps_head: bool  # the recipe's layers on top begin as that run's
    head: str = ""  # these as an expression over `earlier`, of a standard class; its own has them as `earlier.head`


def earlier_run(number: int, task: Any, config: Any, now: Any) -> EarlierRun:
    """The run of this task on an encoder of this configuration, for a recipe of the task `now`."""
    form = form_of(task, config)
    keeps, head = head_of(task).fits(head_of(now)), ""
    if keeps and not form.why_own:
        dropout, names = f"nn.Dropout({now.dropout:g})", STOCK[config.model_type]
        dense = f"{dropout}, earlier.{names.dense}, nn.Tanh(), " if task.hidden else ""
        head = f"nn.Sequential({dense}{dropout}, earlier.{form.shape.last})"
    return EarlierRun(number, form.auto, bool(form.why_own), keeps, head)


def program_of(spec: ModelSpec, recipe: Recipe, earlier: EarlierRun | None = None) -> str:
    """A program that trains this recipe and prints its test score.

    Plain on purpose: no batches by length, all word embeddings trained; the same method, not the same digits.
    Raises UserError if the data can't be read.
    """
    reading, settings = reading_of(recipe), recipe.settings
    needed, source = ("", f"name = {recipe.earlier!r}") if earlier else model_lines(spec)
    schedule = "constant_with_warmup" if settings.schedule == "constant" else settings.schedule
    contrast = learns_from_pairs(settings, recipe.task)
    scored: Any = recipe.dataset() if recipe.task == "similarity" else None
    chooses_tau = recipe.task == "question" and recipe.dataset().has_unanswerable  # type: ignore[attr-defined]
    more = ("from sklearn.linear_model import LogisticRegression",) if contrast else MORE_IMPORTS.get(recipe.task, ())
    measure, positive = _measure(recipe)
    more = (*more, *([f"from sklearn.metrics import {measure}"] if measure else []))
    shortened = recipe.data in (UPLOAD, HUB) or recipe.max_train < MAX_TRAIN
    text: str = TEXT.program(
        kind=recipe.task,
        ours=recipe.data not in (UPLOAD, HUB),
        own=recipe.data == UPLOAD,
        hub=recipe.data == HUB,
        imports=(*reading.imports, *more),
        needed=needed,
        earlier=earlier,
        revision="" if earlier else ", revision=revision",
        source=source,
        loading=reading.lines,
        numbers=reading.numbers,
        settings=settings,
        layers=_layers(recipe.task, settings),
        pooling=FLAT if settings.pooling == "none" else POOLING[settings.pooling],
        lora=settings.trains == "lora",
        schedule=repr(schedule),
        contrast=contrast,
        measure=measure,
        positive=positive,
        most_train=recipe.max_train if shortened else 0,
        most_test=MAX_TEST,
        single=recipe.task in ("sentence", "labels") or bool(scored and scored.single),
        scale=width_of(scored.points) if scored else 1,
        validation=reading.validation if chooses_tau else None,
        most_validation=MAX_VALIDATION,
    )
    return re.sub(r"\n{4,}", "\n\n\n", text) + "\n"


def steps_of(program: str) -> dict[str, tuple[int, int]]:
    """The lines, counted from 1, of each step that the comments name: "1" to "5" of the program, "[1]" to "[4]"."""
    lines = program.splitlines()
    begins = {match[1]: number for number, line in enumerate(lines, 1) if (match := re.match(r"# Step (\d):", line))}
    ends = [*list(begins.values())[1:], len(lines) + 1]
    steps = {name: (first, past - 1) for (name, first), past in zip(begins.items(), ends, strict=True)}
    for number, line in enumerate(lines, 1):
        steps |= dict.fromkeys(re.findall(r"# (\[\d\])", line), (number, number))
    return steps


def _measure(recipe: Recipe) -> tuple[str, str]:
    """scikit-learn's function for the metric of GLUE's board beside accuracy, and the class that F1 is of; or none."""
    task = glue_task(data_id(*hub_name(recipe.hub)[:2], "")) if recipe.data == HUB else None
    if task is None or task.kind != recipe.task:
        return "", ""
    return {MCC: "matthews_corrcoef"}.get(task.metric, "f1_score" if task.positive else ""), task.positive


def _layers(kind: str, settings: Settings) -> str:
    dropout, text = f"nn.Dropout({settings.dropout:g})", ""
    before = "longest * width" if settings.pooling == "none" and kind not in ("entities", "question") else "width"
    for width in settings.hidden:
        text += f"{dropout}, nn.Linear({before}, {width}), nn.Tanh(), "
        before = str(width)
    return f"{text}{dropout}, nn.Linear({before}, {OUTPUTS.get(kind, 'len(labels)')})"
