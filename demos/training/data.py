"""The data of a run: labelled sentences in three splits, from the project's own file or from an upload."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol

from demos.bert.text import clean_text
from demos.errors import UserError
from demos.training.tables import Row, read_rows

EMOTION = Path(__file__).resolve().parents[2] / "assets" / "data" / "emotion.tsv"
MIN_CLASSES, MAX_CLASSES = 2, 50
MIN_PER_CLASS = 5
MAX_TRAIN, MAX_VALIDATION, MAX_TEST = 1_500, 300, 2_000
SHARES = {"test": 0.2, "validation": 0.1}  # of a file that brings no splits
SPLITS = {
    "train": "train", "training": "train",
    "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
    "test": "test", "testing": "test",
}  # fmt: skip


class Splits(Protocol):
    """What the loop asks of a data set: examples in three splits. One that is watched and tested is the same object."""

    @property
    def name(self) -> str: ...
    @property
    def train(self) -> Sequence[Any]: ...
    @property
    def validation(self) -> Sequence[Any]: ...
    @property
    def test(self) -> Sequence[Any]: ...
    @property
    def sentences(self) -> int:
        """How many the encoder reads for one example."""


@dataclass(frozen=True)
class Example:
    """A sentence (or a pair of them) and its class, an index into the data set's labels."""

    text: str
    label: int
    pair: str = ""  # the second sentence; "" where there is none


@dataclass(frozen=True)
class Dataset:
    """Labelled sentences in three splits with no sentence in two of them."""

    sentences: ClassVar[int] = 1
    name: str
    labels: tuple[str, ...]
    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    test: tuple[Example, ...]
    notes: tuple[str, ...] = ()  # what was done to the file, one sentence each

    def counts(self, split: str) -> tuple[int, ...]:
        """Sentences of each class in a split."""
        found = Counter(example.label for example in getattr(self, split))
        return tuple(found[label] for label in range(len(self.labels)))


@lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
def load_emotion(seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """The project's own sentences of six emotions, with the splits their file gives."""
    return build_dataset("Emotion", read_rows(EMOTION.read_bytes(), EMOTION.name), seed=seed, max_train=max_train)


def load_upload(path: Path | str, test: Path | str | None = None, seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """A data set from an uploaded CSV, TSV or JSONL file, and perhaps a second file that is the test split.

    Raises UserError, one sentence that names the row where there is one.
    """
    rows = _read(path)
    if test is None:
        return build_dataset(Path(path).name, rows, seed=seed, max_train=max_train)
    held_out = [Row(row.number, row.text, row.label, "test") for row in _read(test)]
    rows = [
        Row(row.number, row.text, row.label, "validation" if _split(row) == "validation" else "train") for row in rows
    ]
    return build_dataset(f"{Path(path).name} and {Path(test).name}", [*rows, *held_out], seed=seed, max_train=max_train)


def _read(path: Path | str) -> list[Row]:
    try:
        return read_rows(Path(path).read_bytes(), Path(path).name)
    except OSError as error:
        raise UserError("The file could not be read; choose it again.") from error


def build_dataset(name: str, rows: Sequence[Row], seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """Labels, splits and bounds from rows: what the file splits is kept, the rest is drawn by `seed`, class by class.

    A sentence that occurs twice is taken once, the test split's first, so that no test sentence was trained on.
    Raises UserError for less than two or more than MAX_CLASSES classes, or a class with too few sentences.
    """
    notes: list[str] = []
    cleaned = [
        Row(row.number, clean_text(row.text, f"Row {row.number}").strip(), clean_text(row.label), _split(row))
        for row in rows
    ]
    kept = _distinct(cleaned)
    if len(kept) < len(cleaned):
        notes.append(f"{_count(len(cleaned) - len(kept), 'sentence')} taken out because another row has the same.")
    labels = class_names(kept)
    by_split: dict[str, list[Row]] = defaultdict(list)
    for row in kept:
        by_split[row.split].append(row)
    given = set(by_split) - {""}
    if by_split[""] and given:
        raise UserError(f"Row {by_split[''][0].number} has no split, where others have one.")
    if not given:
        by_split["train"] = by_split.pop("")
    if "train" not in by_split:
        raise UserError("No row is in the training split.")
    if by_split["validation"] and not by_split["test"]:
        by_split["test"] = by_split.pop("validation")
        notes.append("The file has no test split, so its validation split is the test.")
    for split, share in SHARES.items():
        if not by_split[split]:
            counts = Counter(row.label for row in by_split["train"])
            quotas = {label: round(share * count) for label, count in counts.items()}
            by_split["train"], by_split[split] = _draw(by_split["train"], quotas, seed)
            notes.append(
                f"{len(by_split[split]):,} sentences were drawn for the {split} split, class by class (seed {seed})."
            )
    for split, limit in (("train", max_train), ("validation", MAX_VALIDATION), ("test", MAX_TEST)):
        if len(by_split[split]) > limit:
            _, few = _draw(by_split[split], _quotas(by_split[split], limit), seed)
            notes.append(f"Of {len(by_split[split]):,} sentences in the {split} split {len(few):,} are used.")
            by_split[split] = few
    for number, label in enumerate(labels):
        if not any(row.label == label for row in by_split["train"]):
            raise UserError(f"No training sentence has the class {labels[number]!r}.")
    index = {label: number for number, label in enumerate(labels)}

    def examples(split: str) -> tuple[Example, ...]:
        return tuple(Example(row.text, index[row.label]) for row in by_split[split])

    return Dataset(name, labels, examples("train"), examples("validation"), examples("test"), tuple(notes))


def _split(row: Row) -> str:
    if not row.split:
        return ""
    if row.split.lower() not in SPLITS:
        raise UserError(f"Row {row.number} has the split {row.split[:40]!r}; train, validation and test are known.")
    return SPLITS[row.split.lower()]


def _distinct(rows: Iterable[Row]) -> list[Row]:
    """One row a sentence, in file order: the test split's before validation's before training's."""
    rank = {"test": 0, "validation": 1}
    first: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: rank.get(row.split, 2)):
        first.setdefault(" ".join(row.text.casefold().split()), row)
    return sorted(first.values(), key=lambda row: (row.split == "test", row.number))


def class_names(rows: Sequence[Row]) -> tuple[str, ...]:
    """The rows' labels by the alphabet. Raises UserError for too few or too many classes, or one with too few rows."""
    counts = Counter(row.label for row in rows)
    if len(counts) < MIN_CLASSES:
        raise UserError(f"Every row has the same label, {next(iter(counts))!r}; at least two classes are needed.")
    if len(counts) > MAX_CLASSES:
        raise UserError(f"The label column has {len(counts):,} different values; at most {MAX_CLASSES} classes fit.")
    rare, least = min(counts.items(), key=lambda item: item[1])
    if least < MIN_PER_CLASS:
        row = next(row for row in rows if row.label == rare)
        raise UserError(
            f"The class {rare!r} (row {row.number}) has {_count(least, 'different sentence')}; "
            f"each class needs at least {MIN_PER_CLASS}."
        )
    return tuple(sorted(counts))


def _quotas(rows: Sequence[Row], limit: int) -> dict[str, int]:
    """How many of each class make `limit` rows together in the classes' own proportions (largest remainders)."""
    counts = Counter(row.label for row in rows)
    quotas = {label: limit * count // len(rows) for label, count in counts.items()}
    spare = sorted(counts, key=lambda label: (-(limit * counts[label] % len(rows)), label))
    for label in spare[: limit - sum(quotas.values())]:
        quotas[label] += 1
    return quotas


def _draw(rows: Sequence[Row], quotas: Mapping[str, int], seed: int) -> tuple[list[Row], list[Row]]:
    """(the rest, drawn): so many of each class's rows, but at least one and never all, both in file order."""
    drawn: set[int] = set()
    by_label: dict[str, list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        by_label[row.label].append(position)
    for label in sorted(by_label):
        positions = by_label[label]
        random.Random(f"{seed} {label}").shuffle(positions)
        drawn |= set(positions[: max(1, min(len(positions) - 1, quotas[label]))])
    rest = [row for position, row in enumerate(rows) if position not in drawn]
    return rest, [row for position, row in enumerate(rows) if position in drawn]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
