"""The data of a run: labelled sentences, or pairs of them, in three splits, from our own file or from an upload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.splits import MAX_TRAIN as MAX_TRAIN  # whoever reads data sets asks here for their bound
from demos.training.data.splits import Item, count_of, same, split_items
from demos.training.data.tables import EMOTION, Row, class_names, read_rows


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


def as_watched(dataset: Splits) -> Any:
    """The data set with its validation examples as its test: what a curve's score is measured on."""
    if dataset.test is dataset.validation:
        return dataset
    return replace(dataset, test=dataset.validation)  # type: ignore[type-var]


@dataclass(frozen=True)
class Example:
    """A sentence (or a pair of them) and its class, an index into the data set's labels."""

    text: str
    label: int
    pair: str = ""  # the second sentence; "" where there is none


@dataclass(frozen=True)
class Dataset:
    """Labelled sentences, or pairs, in three splits with none in two of them."""

    sentences: ClassVar[int] = 1  # a pair is one sequence to the encoder
    name: str
    labels: tuple[str, ...]
    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    test: tuple[Example, ...]
    notes: tuple[str, ...] = ()  # what was done to the file, one sentence each

    @property
    def kind(self) -> str:
        """ "pair" where the examples are of two sentences, else "sentence"."""
        return "pair" if any(example.pair for example in self.train) else "sentence"

    def counts(self, split: str) -> tuple[int, ...]:
        """Sentences of each class in a split."""
        counts = Counter(example.label for example in getattr(self, split))
        return tuple(counts[label] for label in range(len(self.labels)))


@lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
def load_emotion(seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """The project's own sentences of six emotions, with the splits their file gives."""
    return build_dataset("Emotion", read_rows(EMOTION.read_bytes(), EMOTION.name), seed=seed, max_train=max_train)


def build_dataset(name: str, rows: Sequence[Row], seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """Labels, splits and bounds from rows, by the rules of `split_items`, class by class.

    Raises UserError for less than two or more than MAX_CLASSES classes, or a class with too few sentences.
    """
    cleaned = [_cleaned(row) for row in rows]
    noun = "pair" if any(row.pair for row in cleaned) else "sentence"
    # A pair the other way round is the same sentences over again, which a test split must not be tested with.
    items = [
        Item(row.number, "\n".join(sorted(filter(None, map(same, (row.text, row.pair))))), row.label, row.split, row)
        for row in cleaned
    ]
    parts = split_items(items, seed, max_train, noun, lambda kept: class_names([item.value for item in kept], noun))
    labels = tuple(sorted({row.label for split in (parts.train, parts.validation, parts.test) for row in split}))
    trained = {row.label for row in parts.train}
    for label in labels:
        if label not in trained:
            raise UserError(f"No training {noun} has the class {label!r}.")
    index = {label: number for number, label in enumerate(labels)}

    def examples(split: Sequence[Row]) -> tuple[Example, ...]:
        return tuple(Example(row.text, index[row.label], row.pair) for row in split)

    notes = parts.notes + _shared(parts.train, parts.test)
    return Dataset(name, labels, examples(parts.train), examples(parts.validation), examples(parts.test), notes)


def _cleaned(row: Row) -> Row:
    text, pair = (clean_text(sentence, f"Row {row.number:,}").strip() for sentence in (row.text, row.pair))
    return replace(row, text=text, label=clean_text(row.label), pair=pair)


def _shared(train: Sequence[Row], test: Sequence[Row]) -> tuple[str, ...]:
    """Of pairs: how many in the test split have a sentence that is trained on in another pair."""
    if not any(row.pair for row in test):
        return ()
    seen = {same(text) for row in train for text in (row.text, row.pair)}
    count = sum(same(row.text) in seen or same(row.pair) in seen for row in test)
    return (f"{count_of(count, 'test pair')} with a sentence that a training pair has too.",) if count else ()
