"""Train's examples: what the default recipe answers on each of our data sets, with seeds 0, 1 and 2.

    python tests/benchmarks first_examples [--write] [--data NAME,NAME] [--models FOLDER]

With `--write` it writes assets/data/first_examples.json, where the data sets that were not measured keep what they had:
those of questions, unless they are named, since their trainings take longest.
`--models` keeps the trained models, and takes those that are there already: an interrupted measurement goes on.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.files import DATA
from demos.lessons.finetune.train.try_it import EXAMPLES
from demos.training.data.splits import MAX_TRAIN
from demos.training.learning.model import RECIPE, Trained
from demos.training.loop import train
from demos.training.presets import recipe_for
from demos.training.settings import MAX_SECONDS
from demos.training.sources import SOURCES
from demos.widgets.tasks.registry import view_of

STORED = DATA / "first_examples.json"
SEEDS = 3
UNLESS_NAMED = {"questions", "unanswerable"}  # are not measured


def answers(trained: Trained, data: str) -> dict[str, str]:
    """The answer in words to each example of a data set."""
    view, named = view_of(SOURCES[data].kind), EXAMPLES[data]
    found = trained.answers([view.example_of(one.texts) for one in named.values()])
    pairs = zip(named.items(), found, strict=True)
    return {name: view.in_words(trained.task, answer, one.texts) for (name, one), answer in pairs}


def trained_on(data: str, seed: int, folder: Path, short: bool = False) -> Trained:
    """A model of the default recipe in `folder`, trained there unless one is there already; in short of one step."""
    if not (folder / RECIPE).is_file():
        recipe = replace(recipe_for("quick", SOURCES[data].kind), seed=seed, max_seconds=MAX_SECONDS)
        settings = replace(recipe, max_steps=1, evaluations=1) if short else recipe
        for _ in train(SOURCES[data].load(seed, MAX_TRAIN), ModelStore().folder(BUNDLED), settings, folder):
            pass
    return Trained.read(folder)


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line for each example: the answers of the seeds, and whether they are correct; in short of one data set."""
    chosen: Any = dict(pairwise(options))
    usual = ["sentiment"] if short else [name for name in SOURCES if name not in UNLESS_NAMED]
    names = chosen["--data"].split(",") if "--data" in chosen else usual
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {}
    with tempfile.TemporaryDirectory() as home:
        folder = Path(chosen.get("--models", home))
        for data in names:
            view = view_of(SOURCES[data].kind)
            models = [trained_on(data, seed, folder / f"{data}-{seed}", short) for seed in range(1 if short else SEEDS)]
            found = [answers(model, data) for model in models]
            stored[data] = {"day": time.strftime("%Y-%m-%d"), "examples": {}}
            for name, one in EXAMPLES[data].items():
                said = [seed[name] for seed in found]
                stored[data]["examples"][name] = {"texts": one.texts, "correct": one.correct, "seeds": said}
                right = sum(view.agrees(answer, one.correct) for answer in said) if one.correct else "?"
                print(f"  {data}: {name}: {' | '.join(said)}: {right} of {len(said)} correct", flush=True)
    if "--write" in options:
        STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
