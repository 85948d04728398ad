"""The Fine-tune lesson's recipe as a program with torch, transformers and scikit-learn alone; and its steps' lines."""

from __future__ import annotations

import re

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import POOLING, model_lines
from demos.templates import templates
from demos.training.data.splits import MAX_TEST, MAX_TRAIN
from demos.training.export.data_program import reading_of
from demos.training.export.recipe_file import Recipe
from demos.training.form_values import HUB, UPLOAD
from demos.training.presets import learns_from_pairs
from demos.training.settings import Settings

TEXT = templates(__file__, "text_training_program.txt")
FLAT = "vectors = nn.functional.pad(states * mask, (0, 0, 0, longest - states.shape[1])).flatten(1)"
OUTPUTS = {"entities": "len(labels)", "question": "2", "choice": "1"}


def program_of(spec: ModelSpec, recipe: Recipe) -> str:
    """A program that trains this recipe and prints its test score; "" for data that needs more than a few lines.

    Plain on purpose: no batches by length, all word embeddings trained; the same method, not the same digits.
    Raises UserError where the data can't be read.
    """
    reading, settings = reading_of(recipe), recipe.settings
    if reading is None:
        return ""
    needed, source = model_lines(spec)
    schedule = "constant_with_warmup" if settings.schedule == "constant" else settings.schedule
    contrast = learns_from_pairs(settings, recipe.task)
    fits = ("from sklearn.linear_model import LogisticRegression",) if contrast else ()
    shortened = recipe.data in (UPLOAD, HUB) or recipe.max_train < MAX_TRAIN
    text: str = TEXT.program(
        kind=recipe.task,
        ours=recipe.data not in (UPLOAD, HUB),
        own=recipe.data == UPLOAD,
        hub=recipe.data == HUB,
        imports=(*reading.imports, *fits),
        needed=needed,
        source=source,
        loading=reading.lines,
        settings=settings,
        layers=_layers(recipe.task, settings),
        pooling=FLAT if settings.pooling == "none" else POOLING[settings.pooling],
        lora=settings.trains == "lora",
        schedule=repr(schedule),
        contrast=contrast,
        most_train=recipe.max_train if shortened else 0,
        most_test=MAX_TEST,
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


def _layers(kind: str, settings: Settings) -> str:
    dropout, text = f"nn.Dropout({settings.dropout:g})", ""
    before = "longest * width" if settings.pooling == "none" and kind not in ("entities", "question") else "width"
    for width in settings.hidden:
        text += f"{dropout}, nn.Linear({before}, {width}), nn.Tanh(), "
        before = str(width)
    return f"{text}{dropout}, nn.Linear({before}, {OUTPUTS.get(kind, 'len(labels)')})"
