"""How much data a task needs: accuracy on parts of the data, pre-trained, from random weights and by words alone.

Prints the table. With `--write` it writes what the page opens on before a reader has measured anything:
assets/data/learning_curve.json, this measurement, and assets/data/runs.json, two runs with different learning rates.

    PYTHONPATH=. python tests/benchmarks/learning_curve.py [--seeds N] [--data KEY ...] [--write]
    PYTHONPATH=. python tests/benchmarks/learning_curve.py --lstm
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from _few import few

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.data.splits import MAX_TRAIN
from demos.training.events import Epoch, Finished, Started, Step
from demos.training.learning_curve import (
    LSTM,
    PRETRAINED,
    SCRATCH,
    SCRATCH_SEEDS,
    SHARES,
    WORDS,
    Measured,
    Measurement,
    Point,
    checked,
    nested,
)
from demos.training.loop import train
from demos.training.lstm_classifier import lstm_score
from demos.training.results.history import Record, record_of
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.classification.data import load_emotion

STORED = Path(__file__).resolve().parents[2] / "assets" / "data"
RATES = (1e-5, 1e-4)
STORE = ModelStore()
AGAIN = "; then --lstm"


def measured(key: str, seeds: int, short: bool = False) -> Measured:
    """The measurement on our data set of this key, whole; or one training of it."""
    dataset: Any = SOURCES[key].load(0, MAX_TRAIN)
    most = 1.0 if short else 3_600.0  # seconds; a training that has begun by then is finished
    if short:
        dataset = few(dataset, 120)
    spec = STORE.spec(BUNDLED)
    last = None
    known = BUNDLED, spec.title, STORE.folder(BUNDLED)
    for progress in Measurement(TrainingService(), *known, 60.0, most_seconds=most).of(checked(dataset, seeds), seeds):
        if last is None or progress.done > last.done:
            print(f"training {progress.done} of {progress.total}", file=sys.stderr, flush=True)
        last = progress
    assert last is not None
    return last.measured


def with_lstm(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored file with the LSTM's line measured anew; the other lines stay."""
    for key, found in stored["measured"].items():
        dataset: Any = SOURCES[key].load(0, MAX_TRAIN)
        found["points"] = [point for point in found["points"] if point["series"] != LSTM]
        for seed in range(SCRATCH_SEEDS):
            for share in SHARES:
                part = nested(dataset, share, seed)
                point = Point(LSTM, len(part), seed, *lstm_score(dataset, part, seed))
                print(point, flush=True)
                found["points"].append(asdict(point))
    return stored | {"command": f"{stored['command'].removesuffix(AGAIN)}{AGAIN}"}


def told(found: Measured) -> None:
    """A line a size."""
    print(f"{found.data}, {found.model}, seeds: {found.seeds}, {found.seconds:.0f} s; majority {found.majority:.3f}")
    for size in found.sizes:
        scores = {
            series: [point.score for point in found.points if (point.series, point.examples) == (series, size)]
            for series in (PRETRAINED, WORDS, LSTM, SCRATCH)
        }
        cells = (f"{series} {' '.join(f'{score:.3f}' for score in values)}" for series, values in scores.items())
        print(f"{size:>6}  {'  '.join(cells)}", flush=True)


def run(number: int, rate: float) -> Record:
    """One whole training on the emotions."""
    dataset, settings = load_emotion(), replace(Settings(), learning_rate=rate)
    with tempfile.TemporaryDirectory() as home:
        events = list(train(dataset, STORE.folder(BUNDLED), settings, Path(home) / "run"))
    started = next(event for event in events if isinstance(event, Started))
    ended = events[-1]
    assert isinstance(ended, Finished), ended
    steps = [[one.step, round(one.loss, 4)] for one in events if isinstance(one, Step)]
    looks = [
        [one.step, None if one.step == 0 else one.train_loss, round(one.validation_loss, 4), one.validation_score]
        for one in events
        if isinstance(one, Epoch)
    ]
    title = STORE.spec(BUNDLED).title
    return record_of(
        f"sample {number}", number, title, "sentence", dataset, settings, started, ended.result, steps, looks
    )


def main(short: bool = False) -> None:
    """One seed on the emotions: the figures the page's sample was measured with have more."""
    told(measured("emotion", 1, short))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data", nargs="+", default=["emotion"])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--lstm", action="store_true", help="measure that line anew and put it into the stored file")
    asked = parser.parse_args()
    if asked.lstm:
        file = STORED / "learning_curve.json"
        text = json.dumps(with_lstm(json.loads(file.read_text(encoding="utf-8"))), ensure_ascii=False, indent=1)
        file.write_text(text + "\n", encoding="utf-8")
        sys.exit()
    options = f"--seeds {asked.seeds} --data {' '.join(asked.data)} --write"
    command = f"PYTHONPATH=. python tests/benchmarks/learning_curve.py {options}"
    day = time.strftime("%Y-%m-%d")
    if asked.write:
        records = [asdict(run(number, rate)) for number, rate in enumerate(RATES, start=1)]
        for record in records:
            print(f"rate {record['settings']['learning_rate']}: {record['metrics']}", flush=True)
        text = json.dumps({"command": command, "day": day, "records": records}, ensure_ascii=False)
        (STORED / "runs.json").write_text(text + "\n", encoding="utf-8")
    found: dict[str, Any] = {}
    for key in asked.data:
        one = measured(key, asked.seeds)
        told(one)
        found[key] = asdict(one)
        if asked.write:  # after each: a long measurement may be cut short
            text = json.dumps({"command": command, "day": day, "measured": found}, ensure_ascii=False, indent=1)
            (STORED / "learning_curve.json").write_text(text + "\n", encoding="utf-8")
