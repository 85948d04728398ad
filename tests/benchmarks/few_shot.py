"""Few examples a class: the recipes of the page on draws of 8, 16 and 64 emotion sentences a class, test accuracy.

python tests/benchmarks few_shot [--draws N] [--sizes 8,16,64]
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.events import Finished
from demos.training.loop import train
from demos.training.presets import PRESETS
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, load_emotion

RECIPES = ("quick", "frozen", "few")


def drawn(data: Dataset, size: int, seed: int) -> Dataset:
    """`size` training sentences of each class, a few to watch, which costs time, and the whole test split."""
    chosen = []
    for label in range(len(data.labels)):
        of_class = [example for example in data.train if example.label == label]
        chosen += random.Random(f"{seed} {label}").sample(of_class, size)
    return replace(data, train=tuple(chosen), validation=data.validation[:6])


def accuracy(data: Dataset, settings: Settings) -> float:
    """On the test split, after one training."""
    with tempfile.TemporaryDirectory() as home:
        *_, ended = train(data, ModelStore().folder(BUNDLED), settings, Path(home) / "run")
    assert isinstance(ended, Finished), ended
    result: Any = ended.result
    return float(result.accuracy)


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line a size and recipe: the mean over the draws, and their standard deviation."""
    given = dict(zip(options[::2], options[1::2], strict=True))
    draws = 1 if short else int(given.get("--draws", 10))
    sizes = [3] if short else [int(size) for size in given.get("--sizes", "8,16,64").split(",")]
    data = load_emotion()
    for size in sizes:
        for recipe in RECIPES:
            settings = replace(
                PRESETS[recipe].settings, evaluations=1, epochs=1 if short else PRESETS[recipe].settings.epochs
            )
            found = [accuracy(drawn(data, size, seed), replace(settings, seed=seed)) for seed in range(draws)]
            spread = stdev(found) if draws > 1 else 0.0
            print(f"{size} a class, {PRESETS[recipe].title}: {mean(found):.3f} ± {spread:.3f}", flush=True)
