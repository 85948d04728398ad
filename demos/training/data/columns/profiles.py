"""The kind of a table's column, by its values alone: texts, labels, numbers, dates, addresses or running numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from demos.training.data.columns.labels import MAX_CLASSES, MAX_LABEL, is_missing

TEXTS, LABELS, NUMBERS, DATES, ADDRESSES = "text", "label", "number", "date", "address"
RUNNING, IDS, TREES, SAME, EMPTY, OTHER = "running", "id", "tree", "same", "empty", "other"
FILLED = 0.5  # the least share of rows that texts or labels fill
SPARSE = 0.1  # a column that fills less than this is empty but for stray cells
MOST = 0.9  # of the values that a kind must fit
SAMPLE, LONGEST = 2_000, 1_000  # rows, and characters of a value, that are looked at
LABEL_WORDS = 4  # on average
DENSE = 6  # characters of a text that needs no blanks, as in Chinese
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+([.,]0+)?")
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?|\d{1,2}:\d{2}(:\d{2})?"
    r"|(mon|tue|wed|thu|fri|sat|sun)[a-z]* .*\d{4}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(https?://|www\.)\S+|\S+@\S+\.\w+|@\w+|[\w./\\-]+\.(jpe?g|png|txt|html?|pdf)(#\S*)?")
_ID = re.compile(r"[\w.:#/-]+", re.ASCII)
_TREE = re.compile(r"\(.*\(.*\)", re.DOTALL)


@dataclass(frozen=True)
class Profile:
    """One column."""

    kind: str
    filled: float  # the share of rows with a value
    different: int  # values
    length: float  # characters of a value, on average

    @property
    def may_be_text(self) -> bool:
        """Whether the values are texts."""
        return self.kind == TEXTS and self.filled >= FILLED

    @property
    def may_be_label(self) -> bool:
        """Whether few short values are repeated."""
        return self.kind == LABELS and self.filled >= FILLED


def profile_of(cells: Sequence[object]) -> Profile:
    """The profile of a column's cells, which are strings or, from JSON, anything else."""
    step = max(1, len(cells) // SAMPLE)
    sample = cells[::step]
    values = [text[:LONGEST] for cell in sample if not is_missing(text := plain(cell))]
    share = len(values) / len(sample) if sample else 0.0
    if share < SPARSE:
        return Profile(EMPTY, share, len(set(values)), 0.0)
    counts = Counter(values)
    return Profile(_kind(values, counts), share, len(counts), sum(map(len, values)) / len(values))


def plain(cell: object) -> str:
    """A cell as text without blanks around it; a list of one as its item, any other list or object as nothing."""
    if isinstance(cell, list) and len(cell) == 1:
        cell = cell[0]
    if cell is None or isinstance(cell, dict | list) or cell != cell:
        return ""
    return (str(cell).lower() if isinstance(cell, bool) else str(cell)).strip()


def is_number(value: str) -> bool:
    """Whether a value is a number, also one with a comma before its decimals."""
    return bool(_NUMBER.fullmatch(value))


def _kind(values: Sequence[str], counts: Counter[str]) -> str:
    if len(counts) == 1:
        return SAME

    def most(pattern: re.Pattern[str]) -> bool:
        return sum(bool(pattern.fullmatch(value)) for value in values) >= MOST * len(values)

    if most(_DATE):
        return DATES
    if most(_ADDRESS):
        return ADDRESSES
    if most(_NUMBER):
        if not all(map(_WHOLE.fullmatch, values)):
            return NUMBERS
        whole = [int(re.split("[.,]", value)[0]) for value in values]
        if len(counts) > 4 and all(before <= after for before, after in pairwise(whole)):
            return RUNNING
        return LABELS if _repeated(values, counts) else IDS if len(counts) == len(values) else NUMBERS
    words = sum(len(value.split()) for value in values) / len(values)
    if words <= LABEL_WORDS and _repeated(values, counts):
        return LABELS
    if most(_TREE):
        return TREES
    if most(_ID):
        return IDS if len(counts) == len(values) else OTHER
    dense = sum(len(value) >= DENSE and not value.isascii() for value in values) >= len(values) / 2
    return TEXTS if words >= 2 or dense else OTHER


def _repeated(values: Sequence[str], counts: Counter[str]) -> bool:
    """Whether these can be labels: few, short, each there twice on average."""
    few = 2 <= len(counts) <= MAX_CLASSES and 2 * len(counts) <= len(values)
    return few and max(map(len, counts)) <= MAX_LABEL
