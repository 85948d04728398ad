"""The data of a siamese training: rated pairs, some to train on and some held out, with no sentence in both."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from demos.bert.embeddings.agreement import Pair
from demos.errors import UserError
from demos.training.data.rated_pairs import Form, Rated, our_pairs
from demos.training.data.splits import Splits, same

HELD_OUT_SHARE = 0.4  # so large a share, since an interval over few pairs would be too wide
MAX_HELD_OUT = 600
MIN_TRAIN, MIN_HELD_OUT = 8, 8
TOPS = (1.0, 5.0, 10.0, 100.0)  # the highest rating of the usual scales


@dataclass(frozen=True)
class PairDataset(Splits[Pair]):
    """Rated pairs; the held-out ones are watched during the training and judge it at the end, but choose nothing."""

    top: float = field(kw_only=True)  # the rating of equal meaning, for which the cosine is 1
    held_out_rows: tuple[int, ...] = field(kw_only=True)  # their places among the file's pairs, from 0
    form: Form = field(kw_only=True)  # how the file is read, for a program that reads it again

    @property
    def sentences(self) -> int:
        """The encoder reads both of a pair."""
        return 2

    @property
    def held_out(self) -> tuple[Pair, ...]:
        """The pairs of the validation, which is also the test."""
        return self.test


@lru_cache(maxsize=8)
def our_split(seed: int) -> PairDataset:
    """The project's own pairs."""
    return split_pairs(our_pairs(), seed)


def split_pairs(rated: Rated, seed: int) -> PairDataset:
    """Hold HELD_OUT_SHARE of the pairs out, at most MAX_HELD_OUT, drawn by `seed`.

    Pairs that share a sentence, also through other pairs, stay together; so no held-out sentence is trained on.
    Raises UserError for ratings below 0, for too few pairs, and where the held-out ones are all rated alike.
    """
    pairs = rated.pairs
    lowest = min(pair.score for pair in pairs)
    if lowest < 0:
        raise UserError(f"The lowest rating is {lowest:g}; ratings must be 0 or higher.")
    highest = max(pair.score for pair in pairs)
    top = next((top for top in TOPS if highest <= top), highest)
    room = min(MAX_HELD_OUT, round(HELD_OUT_SHARE * len(pairs)))
    groups = _connected(pairs)
    random.Random(seed).shuffle(groups)
    drawn: list[int] = []
    for group in groups:
        if len(drawn) + len(group) <= room:
            drawn += group
    held_out = set(drawn)
    train = tuple(pair for row, pair in enumerate(pairs) if row not in held_out)
    if len(held_out) < MIN_HELD_OUT or len(train) < MIN_TRAIN:
        raise UserError(
            f"Only {len(held_out):,} of {len(pairs):,} pairs can be held out; at least {MIN_HELD_OUT} that share no "
            f"sentence with the others are needed, and {MIN_TRAIN} for training."
        )
    rows = tuple(sorted(held_out))
    held_out_pairs = tuple(pairs[row] for row in rows)
    if len({pair.score for pair in held_out_pairs}) == 1:
        raise UserError("All held-out pairs have the same rating, so there is no order to compare; try another seed.")
    notes = (rated.read_as.note,) if rated.read_as else ()
    return PairDataset(
        rated.name, train, held_out_pairs, held_out_pairs, notes, top=top, held_out_rows=rows, form=rated.form
    )


def _connected(pairs: tuple[Pair, ...]) -> list[list[int]]:
    """The pairs' places in groups without a common sentence, in the order of their first ones."""
    texts: dict[str, int] = {}  # each different sentence's number
    ends = [texts.setdefault(same(text), len(texts)) for pair in pairs for text in (pair.first, pair.second)]
    graph = coo_array((np.ones(len(pairs)), (ends[::2], ends[1::2])), (len(texts), len(texts)))
    _, group_of = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = defaultdict(list)
    for row, text in enumerate(ends[::2]):
        groups[group_of[text]].append(row)
    return list(groups.values())
