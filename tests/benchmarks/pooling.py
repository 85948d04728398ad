"""What pooling saves: the emotions with the mean, with [CLS] and with no pooling: head, seconds and accuracy.

    python tests/benchmarks pooling [--write]

With `--write` it writes assets/data/pooling.json, which the part "Train" shows.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from _few import few

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.events import Finished, Started
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import load_emotion

STORED = Path(__file__).resolve().parents[2] / "assets" / "data" / "pooling.json"
SEEDS = 3


def measured(settings: Settings, dataset: Any) -> dict[str, float]:
    """One training."""
    with tempfile.TemporaryDirectory() as home:
        base = ModelStore().folder(BUNDLED)
        events = list(train(dataset, base, settings, Path(home) / "run"))
    started = next(event for event in events if isinstance(event, Started))
    ended = events[-1]
    assert isinstance(ended, Finished), ended
    scores: Any = ended.result
    return {"head": started.head_parameters, "seconds": scores.seconds, "accuracy": scores.accuracy}


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line for each pooling of the default recipe, the mean over the seeds; in short of one epoch."""
    dataset = few(load_emotion(), 20) if short else load_emotion()
    recipe = replace(Settings(), epochs=1) if short else Settings()
    found: dict[str, dict[str, float]] = {}
    for pooling in ("mean", "cls", "none"):
        seeds = range(1 if short else SEEDS)
        runs = [measured(replace(recipe, pooling=pooling, seed=seed), dataset) for seed in seeds]
        found[pooling] = {name: round(mean(run[name] for run in runs), 4) for name in runs[0]}
        print(pooling, found[pooling], flush=True)
    if "--write" in options:
        text = json.dumps({"day": time.strftime("%Y-%m-%d"), "seeds": SEEDS, "poolings": found}, indent=1)
        STORED.write_text(text + "\n", encoding="utf-8")
