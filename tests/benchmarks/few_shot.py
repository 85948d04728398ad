"""Few examples a class: the recipes of the page on draws of 8, 16 and 64 emotion sentences a class, test accuracy.

Beside them a logistic regression on the unchanged encoder's mean vectors. `--write` writes assets/data/few_shot.json,
which the recipe "few examples" tells on the page.

    python tests/benchmarks few_shot [--draws N] [--sizes 8,16,64] [--write]
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.files import DATA
from demos.training.events import Finished
from demos.training.frozen_classifier import fit_splits
from demos.training.loop import train
from demos.training.presets import PRESETS
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, load_emotion

RECIPES = ("quick", "frozen", "few")
MEAN = "mean"  # beside the recipes
STORE, VECTORS = ModelStore(), VectorCache()


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
        *_, ended = train(data, STORE.folder(BUNDLED), settings, Path(home) / "run")
    assert isinstance(ended, Finished), ended
    result: Any = ended.result
    return float(result.accuracy)


def of_mean_vectors(data: Dataset) -> float:
    """On the test split, by a logistic regression on frozen mean vectors, its C chosen by cross-validation."""
    texts = [example.text for example in (*data.train, *data.test)]
    loaded = STORE.get(BUNDLED)
    (vectors,) = VECTORS.get(loaded, texts, [Choice("mean", loaded.spec.num_layers)])
    return fit_splits(vectors, data).scores.accuracy


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line a size and recipe: the mean over the draws, and their standard deviation."""
    rest = [option for option in options if option != "--write"]
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    draws = 1 if short else int(given.get("--draws", 10))
    sizes = [3] if short else [int(size) for size in given.get("--sizes", "8,16,64").split(",")]
    data = load_emotion()
    scores: dict[str, dict[str, list[float]]] = {method: {} for method in (MEAN, *RECIPES)}
    for size in sizes:
        for method, by_size in scores.items():
            if method == MEAN:
                found = [of_mean_vectors(drawn(data, size, seed)) for seed in range(draws)]
            else:
                recipe = PRESETS[method].settings
                settings = replace(recipe, evaluations=1, epochs=1 if short else recipe.epochs)
                found = [accuracy(drawn(data, size, seed), replace(settings, seed=seed)) for seed in range(draws)]
            by_size[str(size)] = [round(score, 4) for score in found]
            name = "logistic regression on mean vectors" if method == MEAN else PRESETS[method].title
            print(f"{size} a class, {name}: {mean(found):.3f} ± {stdev(found) if draws > 1 else 0.0:.3f}", flush=True)
    if "--write" in options:
        document = {
            "command": f"python tests/benchmarks few_shot --draws {draws} --write",
            "day": time.strftime("%Y-%m-%d"),
            "test": len(data.test),
            "accuracy": scores,
        }
        (DATA / "few_shot.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
