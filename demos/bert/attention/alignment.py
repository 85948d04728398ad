"""Two inputs row by row: which token or word of one is beside which of the other.

Where both have the same tokens, token is beside token. Otherwise word is beside word, and a split word's pieces count
as one, since two sentences, or two tokenizers, agree on whole words at most.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from demos.bert.model.encoding import Encoding

SHOWN = 64  # tokens of each input; more is no picture to read
REPLACED = 3  # words in a row that may be beside as many others; a longer stretch is another sentence
Side = Literal["left", "right"]
LONGEST_NAME = 24  # characters of a word that a row is named by


@dataclass(frozen=True)
class Unit:
    """A token, or a word with all its pieces: one row and column of one side's weights."""

    name: str  # in the form that is shown
    key: str  # in the form that is compared
    tokens: tuple[int, ...]  # its positions in the input
    word: int | None  # its word's running number in the input (`Encoding.word_index`); None for a special token
    sentence: int  # 0 for A and its special tokens, 1 for B and its [SEP]

    @property
    def special(self) -> bool:
        return self.word is None

    def matches(self, other: Unit) -> bool:
        """Whether both are the same word, or special token, of the same sentence."""
        return (self.key, self.special, self.sentence) == (other.key, other.special, other.sentence)


# One row, and column, of the pictures: the unit's index left and right, None where that side has no such unit.
Row = tuple[int | None, int | None]


@dataclass(frozen=True)
class Alignment:
    """Two inputs side by side: each side's units in reading order, and `rows`, which hold every unit once, in order."""

    left: tuple[Unit, ...]
    right: tuple[Unit, ...]
    rows: tuple[Row, ...]
    by_word: bool

    @property
    def pairs(self) -> tuple[tuple[Unit | None, Unit | None], ...]:
        """The rows' units."""
        return tuple((None if i is None else self.left[i], None if j is None else self.right[j]) for i, j in self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Each row's name: "bank", or "river → city" where one word is beside another."""
        names = []
        for here, there in self.pairs:
            if here and there and not here.matches(there):
                names.append(f"{here.name} → {there.name}")
            else:
                names += [unit.name for unit in (here, there) if unit][:1]
        return tuple(names)

    @property
    def lonely(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the units without a partner: the left side's, the right side's."""
        return (
            tuple(here.name for here, there in self.pairs if here and there is None),
            tuple(there.name for here, there in self.pairs if there and here is None),
        )


def align(left: Encoding, right: Encoding, fold: bool, shown: int = SHOWN) -> Alignment:
    """The units among the first `shown` tokens of each input, side by side.

    Words are matched by the longest common subsequence, of several the one with the most matched neighbours; `fold`
    lets words match that differ in case or accents. Between two matches, up to REPLACED words of one side are beside as
    many of the other. `[CLS]` goes with `[CLS]`, A's `[SEP]` with A's, and no word of A with one of B.
    Source: R. Wagner and M. Fischer 1974, "The String-to-String Correction Problem".
    """
    same = (left.tokens, left.sequence_ids) == (right.tokens, right.sequence_ids)
    of_left, of_right = (_units(encoding, not same, fold, shown) for encoding in (left, right))
    if same:
        return Alignment(of_left, of_right, tuple((i, i) for i in range(len(of_left))), by_word=False)
    rows: list[Row] = []
    i = j = 0
    for a, b in [*_common(of_left, of_right), (len(of_left), len(of_right))]:
        rows += _between(of_left, of_right, range(i, a), range(j, b))
        if a < len(of_left):
            rows.append((a, b))
        i, j = a + 1, b + 1
    return Alignment(of_left, of_right, tuple(rows), by_word=True)


def arranged(weights: np.ndarray, alignment: Alignment, side: Side) -> np.ndarray:
    """One side's weights between its units [..., u, u] in the alignment's rows: [..., r, r], nan where it has none."""
    units = [row[side == "right"] for row in alignment.rows]
    at = np.array([index for index, unit in enumerate(units) if unit is not None], dtype=int)
    of = np.array([unit for unit in units if unit is not None], dtype=int)
    result = np.full((*weights.shape[:-2], len(units), len(units)), np.nan)
    result[..., at[:, None], at] = weights[..., of[:, None], of]
    return result


def _units(encoding: Encoding, by_word: bool, fold: bool, shown: int) -> tuple[Unit, ...]:
    """The tokens, or words, that lie among the first `shown` tokens as a whole."""
    grouped: dict[object, list[int]] = {}
    words = encoding.word_index
    for index, word in enumerate(words):
        grouped.setdefault(("token", index) if word is None or not by_word else word, []).append(index)
    units = []
    for tokens in grouped.values():
        first, last = tokens[0], tokens[-1]
        word, name = words[first], encoding.tokens[first]
        if by_word and word is not None:
            text = encoding.text_pair if encoding.sequence_ids[first] == 1 else encoding.text
            name = text[encoding.offsets[first][0] : encoding.offsets[last][1]]
        if last < shown:
            short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
            key, sentence = _folded(name) if fold else name, encoding.token_type_ids[first]
            units.append(Unit(short, key, tuple(tokens), word, sentence))
    return tuple(units)


def _folded(word: str) -> str:
    """Without case and accents, as an uncased tokenizer reads it."""
    parts = unicodedata.normalize("NFD", word.casefold())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def _common(left: Sequence[Unit], right: Sequence[Unit]) -> Iterator[tuple[int, int]]:
    """The matches of a longest common subsequence, in order.

    A match counts more than all neighbourhoods together, so that these only decide between equally long ones.
    """
    match = min(len(left), len(right)) + 1
    best = np.zeros((len(left) + 1, len(right) + 1), dtype=int)  # of what begins at i, j or later
    here = np.zeros_like(best)  # of what begins with i and j matched; 0 where they don't
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            if left[i].matches(right[j]):
                neighbour = here[i + 1, j + 1]
                here[i, j] = match + max(best[i + 1, j + 1], neighbour + 1 if neighbour else 0)
            best[i, j] = max(here[i, j], best[i + 1, j], best[i, j + 1])
    i = j = 0
    beside = False  # the match before counted on this one
    while i < len(left) and j < len(right):
        if here[i, j] and (beside or here[i, j] == best[i, j]):
            yield i, j
            i, j = i + 1, j + 1
            beside = bool(here[i, j]) and here[i, j] + 1 > best[i, j]
        elif best[i + 1, j] >= best[i, j + 1]:
            i += 1
        else:
            j += 1


def _between(left: Sequence[Unit], right: Sequence[Unit], of_left: range, of_right: range) -> list[Row]:
    """The rows between two matches: word beside word where a few were replaced by as many, else each alone."""
    pairs = list(zip(of_left, of_right, strict=False))
    replaced = len(of_left) == len(of_right) <= REPLACED and all(
        not (left[i].special or right[j].special) and left[i].sentence == right[j].sentence for i, j in pairs
    )
    if replaced:
        return [*pairs]
    return [*((i, None) for i in of_left), *((None, j) for j in of_right)]
