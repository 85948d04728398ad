"""The lengths of examples in tokens, remembered without the data set, which may be a reader's whole upload."""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from demos.bert.model.once_cache import Recent
from demos.training.data.splits import Splits
from demos.training.settings import Settings
from demos.training.tasks.registry import task_of
from demos.training.tasks.task import Features

MOST = 16  # data sets and limits remembered for each tokenizer


@dataclass(frozen=True)
class Lengths:
    """The data that counting needs: each example's (sequences, longest of them in tokens), split by split."""

    train: tuple[tuple[int, int], ...]
    validation: tuple[tuple[int, int], ...]
    test: tuple[tuple[int, int], ...]
    rows: int  # different tokens, padding included

    @property
    def longest(self) -> int:
        """The longest sequence of all, in tokens."""
        return max(longest for _, longest in (*self.train, *self.validation, *self.test))


_known: WeakKeyDictionary[Any, Recent[Lengths]] = WeakKeyDictionary()  # by tokenizer
_lock = threading.Lock()


def lengths_of(dataset: Splits, tokenizer: Any, limit: int) -> Lengths:
    """The lengths of equal data are counted once, since each move of a slider needs them.

    `limit` is the largest number of tokens in a sequence.
    """
    key = fingerprint(dataset), limit
    with _lock:
        known = _known.setdefault(tokenizer, Recent(MOST))
    lengths = known.get(key)
    if lengths is None:
        lengths = count(dataset, tokenizer, limit)
        known.put(key, lengths)
    return lengths


def fingerprint(dataset: Splits) -> bytes:
    """The same 32 bytes for equal examples of one kind in the same splits, and for no others."""
    shared = dataset.test is dataset.validation
    splits = (dataset.train, dataset.validation, () if shared else dataset.test)
    content = repr((type(dataset).__name__, shared, splits))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()


def count(dataset: Splits, tokenizer: Any, limit: int) -> Lengths:
    """The lengths, by the tokenizer."""
    task = task_of(dataset, Settings())  # the examples' tokens depend on no setting

    def of(features: Sequence[Features]) -> tuple[tuple[int, int], ...]:
        return tuple((len(feature.sequences), max(map(len, feature.sequences))) for feature in features)

    train, validation = (task.features(tokenizer, split, limit) for split in (dataset.train, dataset.validation))
    test = [] if dataset.test is dataset.validation else task.features(tokenizer, dataset.test, limit)
    sequences = [ids for feature in (*train, *validation, *test) for ids in feature.sequences]
    rows = {tokenizer.pad_token_id or 0}.union(*sequences)
    return Lengths(of(train), of(validation), of(test), len(rows))
