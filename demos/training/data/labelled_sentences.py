"""Labelled sentences for a classifier over frozen vectors: where they come from, and which of them are held out."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from demos.errors import UserError
from demos.training.data.columns.labels import in_order
from demos.training.data.file_tables import TABLES, read_table
from demos.training.data.packed import unpacked
from demos.training.data.splits import labels_differ, same, split_name
from demos.training.data.sst2 import fetch_guide, is_guide
from demos.training.data.tables import (
    EMOTION,
    FILM_REVIEWS,
    MIN_PER_CLASS,
    SENTIMENT,
    Row,
    class_names,
    read_rows,
    rows_of,
    usable,
)
from demos.training.data.text_encoding import file_bytes

# The sources of sentences.
EMOTIONS, TWO, FILMS, REVIEWS, FILE, SST2 = "emotion", "two", "films", "reviews", "file", "sst2"
MAX_ROWS = 2_000  # the guide's own number
HELD_OUT = 0.25  # scikit-learn's default, and so the guide's
OWN_SPLIT = "own"
MIN_LEARNED = 2  # sentences of each class in the training part of a file's own split
SEEDS = 10
GUIDE_LABELS = {"0": "negative", "1": "positive"}


@dataclass(frozen=True, eq=False)
class Labelled:
    """Sentences with a class each, an index into `labels`."""

    name: str
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    targets: np.ndarray  # int [m]
    own_test: np.ndarray | None = None  # bool [m]: what the file itself holds out
    notes: tuple[str, ...] = ()  # the changes to the file, one sentence each
    guide: bool = False  # these are the guide's own sentences

    @cached_property
    def key(self) -> str:
        """Equal for equal sentences, classes and held-out rows."""
        held_out = b"" if self.own_test is None else self.own_test.tobytes()
        content = "\n".join([*self.labels, "", *self.texts]).encode() + self.targets.tobytes() + held_out
        return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers: what the classifier learns from, and what it is scored on."""

    train: np.ndarray
    test: np.ndarray
    key: str  # OWN_SPLIT or the seed


def read_labelled(source: str, file: str | None = None) -> Labelled:
    """The sentences that `source` names; `file` is the path of an upload, of which the first MAX_ROWS rows are used.

    Raises UserError where a file is missing or broken, or SST-2 out of reach.
    """
    if source in (EMOTIONS, TWO):
        return own_sentences(source == TWO)
    if source in (FILMS, REVIEWS):
        return own_reviews(source == FILMS)
    if source == SST2:
        return from_bytes(fetch_guide(), "SST-2, file of Alammar's guide.tsv")
    if source != FILE:
        raise UserError(f"There is no data called {str(source)[:40]!r} here.")
    if not file:
        raise UserError("Choose a CSV, Excel or JSON file with a text and a label column.")
    return from_bytes(*unpacked(file_bytes(file), Path(file).name, TABLES))


@lru_cache(maxsize=2)  # frozen, and needed at each move of a menu
def own_sentences(two: bool) -> Labelled:
    """The project's sentences of six emotions, or of joy and sadness alone, as good and bad."""
    rows = read_rows(EMOTION.read_bytes(), EMOTION.name)
    if two:
        rows = [row for row in rows if row.label in ("joy", "sadness")]
    return build_labelled("Joy or sadness" if two else "Emotion", rows)


@lru_cache(maxsize=2)
def own_reviews(only_films: bool) -> Labelled:
    """The project's reviews, negative or positive: of films, or of books, meals and other things too."""
    name, file = ("Our own film reviews", FILM_REVIEWS) if only_films else ("Reviews", SENTIMENT)
    return build_labelled(name, read_rows(file.read_bytes(), file.name))


def from_bytes(data: bytes, name: str) -> Labelled:
    """An uploaded file's bytes. Raises UserError as `read_table`, `rows_of` and `build_labelled` do."""
    table = read_table(data, name)
    rows = rows_of(table)
    if not is_guide(data):
        built = build_labelled(name, rows)
        return replace(built, notes=(*table.read_as.notes, *built.notes))
    rows = [replace(row, label=GUIDE_LABELS[row.label]) for row in rows]
    return replace(build_labelled("SST-2, file of Alammar's guide", rows), guide=True)


def build_labelled(name: str, rows: Sequence[Row], most: int = MAX_ROWS) -> Labelled:
    """The first `most` rows, each sentence once, so that none is learned from and scored on.

    Where these lack a class (a file sorted by class), as many are drawn from all. Raises UserError for less than two or
    more than MAX_CLASSES classes, a class with too few sentences, or a split without a known name.
    """
    first: dict[str, Row] = {}
    rows, _, notes = usable(rows)
    repeated = [(row, first.setdefault(same(row.text), row)) for row in rows]  # with the row that counts
    distinct = list(first.values())
    if len(distinct) < len(rows):
        left_out = len(rows) - len(distinct)
        notes.append(f"{left_out:,} row{'s' * (left_out > 1)} left out: an earlier row has the same sentence.")
    notes += labels_differ(repeated, "sentence")
    class_names(distinct, repeated=rows)
    if len(distinct) > most:
        few = distinct[:most]
        counts = Counter(row.label for row in few)
        if min(counts.values()) < MIN_PER_CLASS or len(counts) < len({row.label for row in distinct}):
            few = _drawn(distinct, most)
            notes.append(f"{len(few):,} of {len(distinct):,} rows, drawn at random within each class (seed 0).")
        else:
            notes.append(f"The first {len(few):,} of {len(distinct):,} rows.")
        distinct = few
    labels = in_order(row.label for row in distinct)
    targets = np.array([labels.index(row.label) for row in distinct], dtype=np.int64)
    targets.flags.writeable = False
    texts = tuple(row.text for row in distinct)
    own_test, why_not = _own_test(distinct, targets, labels)
    if why_not:
        notes.append(f"The split in the file is not used, because {why_not}.")
    return Labelled(Path(name).stem, labels, texts, targets, own_test, tuple(notes))


def split_rows(data: Labelled, choice: str) -> Split:
    """The file's own split, or scikit-learn's `train_test_split` by a seed, a quarter held out class by class.

    Seed 0 where the file has no split. Raises UserError for anything else than OWN_SPLIT and a seed.
    """
    if choice == OWN_SPLIT and data.own_test is not None:
        return Split(np.flatnonzero(~data.own_test), np.flatnonzero(data.own_test), OWN_SPLIT)
    if choice != OWN_SPLIT and choice not in map(str, range(SEEDS)):
        raise UserError(
            f"There is no split {str(choice)[:20]!r} here; choose the split from the file or a seed from 0 to "
            f"{SEEDS - 1}."
        )
    seed = 0 if choice == OWN_SPLIT else int(choice)
    train, test = train_test_split(
        np.arange(len(data.texts)),
        test_size=max(HELD_OUT, len(data.labels) / len(data.texts)),
        random_state=seed,
        stratify=data.targets,
    )
    return Split(train, test, str(seed))


def _drawn(rows: Sequence[Row], most: int) -> list[Row]:
    """`most` rows in the classes' own proportions, but MIN_PER_CLASS of each at least, in file order."""
    labels = [row.label for row in rows]
    size = min(most, len(rows) - len(set(labels)))  # scikit-learn wants one of each class on the other side, too
    picked, _ = train_test_split(np.arange(len(rows)), train_size=size, random_state=0, stratify=labels)
    chosen = set(picked.tolist())
    for label in set(labels):
        own = [at for at, other in enumerate(labels) if other == label]
        chosen |= set(own[: max(0, MIN_PER_CLASS - len(chosen.intersection(own)))])
    return [rows[at] for at in sorted(chosen)]


def _own_test(rows: Sequence[Row], targets: np.ndarray, labels: Sequence[str]) -> tuple[np.ndarray | None, str]:
    """(which rows the file's split column holds out, ""), or (None, why not): ("" where there is no such column).

    Raises UserError, as fine-tuning does, for a split without a known name, and where only some rows have one.
    """
    splits = [split_name(row.split, row.number) for row in rows]
    if not any(splits):
        return None, ""
    if "" in splits:
        raise UserError(f"Row {rows[splits.index('')].number:,} has no split, but other rows have one.")
    test = np.array([split == ("test" if "test" in splits else "validation") for split in splits])
    if not test.any():
        return None, "it has no held-out examples"
    if test.all():
        return None, "it leaves no examples for training"
    learned = np.bincount(targets[~test], minlength=len(labels))
    if learned.min() < MIN_LEARNED:
        few = labels[int(learned.argmin())][:40]
        return None, f"it leaves fewer than {MIN_LEARNED} training sentences for class {few!r}"
    test.flags.writeable = False
    return test, ""
