"""Words as ids, and sentences as tensors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from demos.bert.translation.gru import BEGIN, END, PADDING, SPECIAL
from demos.errors import UserError

MOST_CHARACTERS = 300  # of a text that is typed


@dataclass(frozen=True)
class Vocabulary:
    """The words of one language; those of gru.SPECIAL come first."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Self:
        """The words that occur, in the order of the alphabet."""
        return cls((*SPECIAL, *sorted({word for sentence in sentences for word in sentence})))

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each word's id."""
        return {word: place for place, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)


def padded(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Tensor:
    """[b, n] ids, the shorter sentences filled up with PADDING."""
    return _tensor([[vocabulary.ids[word] for word in sentence] for sentence in sentences])


def shifted(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """The input and the target of a decoder, each [b, m + 1]: the sentence after BEGIN, and before END."""
    rows = [[vocabulary.ids[word] for word in sentence] for sentence in sentences]
    return _tensor([[BEGIN, *row] for row in rows]), _tensor([[*row, END] for row in rows])


def _tensor(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PADDING] * (longest - len(row))] for row in rows])


def words_in(text: str, vocabulary: Vocabulary, most: int, model: str) -> tuple[str, ...]:
    """The words of a typed text, perhaps none, in lower case and without full stops.

    Raises UserError for more than `most` words, and for one that the `model` ("translator") was not trained on.
    """
    words = text[: MOST_CHARACTERS + 1].lower().replace(".", " ").split()
    if len(text) > MOST_CHARACTERS or len(words) > most:
        raise UserError(f"The sentence may have at most {most} words.")
    known = vocabulary.words[len(SPECIAL) :]
    if unknown := [word for word in words if word not in known]:
        raise UserError(
            f"The word “{unknown[0][:40]}” is not among the {len(known)} English words that the {model} was "
            "trained on; they are listed under “The numbers”."
        )
    return tuple(words)
