"""The names along one side of a matrix: an input's tokens, or its words, or what is left of them after a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demos.bert.model.encoding import Encoding


@dataclass(frozen=True)
class Labels:
    """The labels of one side of a matrix: its tokens or words, as they are written (nothing escaped)."""

    names: tuple[str, ...]
    special: tuple[bool, ...]
    sentence_b_start: int | None = None  # 0 where all are sentence B's, len(names) where all are A's
    positions: tuple[int, ...] = ()  # each one's (first) token's number in the input; 0, 1, 2, … where none are given
    words: tuple[int | None, ...] = ()  # the running number of each one's word (`Encoding.word_index`): its hue

    def __len__(self) -> int:
        return len(self.names)

    @property
    def numbers(self) -> tuple[int, ...]:
        """`positions`, counted from 0 where none are given."""
        return self.positions or tuple(range(len(self.names)))

    @classmethod
    def of_tokens(cls, encoding: Encoding, shown: int | None = None) -> Labels:
        """The first `shown` tokens of an encoding, or all of them."""
        n = len(encoding) if shown is None else min(shown, len(encoding))
        start = encoding.sentence_b_start
        return cls(
            names=encoding.tokens[:n],
            special=tuple(bool(mark) for mark in encoding.special_tokens_mask[:n]),
            sentence_b_start=None if start is None else min(start, n),
            words=encoding.word_index[:n],
        )

    @classmethod
    def of_words(cls, encoding: Encoding) -> Labels:
        """The words of an encoding, split ones put together again; special tokens stay themselves."""
        starts = word_starts(encoding)
        start, words = encoding.sentence_b_start, encoding.word_index
        ends = [*starts[1:], len(encoding)]
        return cls(
            names=tuple(joined(encoding.tokens[a:b]) for a, b in zip(starts, ends, strict=True)),
            special=tuple(bool(encoding.special_tokens_mask[index]) for index in starts),
            sentence_b_start=None if start is None else sum(index < start for index in starts),
            positions=tuple(starts),
            words=tuple(words[index] for index in starts),
        )

    def take(self, indices: Sequence[int]) -> Labels:
        """Those at the ascending `indices`, each with the number it had."""
        numbers, start = self.numbers, self.sentence_b_start
        return Labels(
            names=tuple(self.names[index] for index in indices),
            special=tuple(self.special[index] for index in indices),
            sentence_b_start=None if start is None else sum(index < start for index in indices),
            positions=tuple(numbers[index] for index in indices),
            words=tuple(self.words[index] for index in indices) if self.words else (),
        )

    def place_of(self, number: int) -> int:
        """The place of the token with this number, or of its word, or of the last one before it that is still there."""
        return max((place for place, own in enumerate(self.numbers) if own <= number), default=0)


def word_starts(encoding: Encoding) -> list[int]:
    """The index of each word's first token; a special token counts as a word."""
    words = encoding.word_index
    return [i for i, word in enumerate(words) if word is None or i == 0 or word != words[i - 1]]


def joined(pieces: Sequence[str]) -> str:
    """A word from its WordPieces: those after the first lose their ##."""
    return pieces[0] + "".join(piece.removeprefix("##") for piece in pieces[1:])
