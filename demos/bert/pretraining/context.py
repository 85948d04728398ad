"""The effect of the words around a masked position on its prediction, which is repeated without each of them."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import states
from demos.errors import UserError

MAX_TOKENS = 40
BATCH = 8  # sentences read at once
PER_TOKEN = ("tokens", "input_ids", "token_type_ids", "word_ids", "sequence_ids", "offsets", "special_tokens_mask")


@dataclass(frozen=True)
class Removal:
    """One word taken away."""

    places: tuple[int, ...]  # its tokens in the whole input
    word: str
    probabilities: np.ndarray  # <float64>[t]: of the candidates, without this one
    first: str  # the likeliest token then


@dataclass(frozen=True)
class Removals:
    """Every word but the place itself, taken away in turn."""

    encoding: Encoding
    place: int
    candidates: tuple[str, ...]  # t tokens
    before: np.ndarray  # <float64>[t]: with all words there
    first: str  # the likeliest token there
    each: tuple[Removal, ...]


def removal_steps(
    pretrained: Pretrained, encoding: Encoding, place: int, candidates: Sequence[int]
) -> Generator[tuple[int, int], None, Removals]:
    """Probabilities of the `candidates`, token ids, at `place`, with all words there and without each other one.

    A word goes with all its pieces, and what follows moves up: the input is the shorter sentence's own. Yields
    (sentences read, sentences in all). Raises UserError over MAX_TOKENS tokens, or where no other word is there.
    """
    if len(encoding) > MAX_TOKENS:
        raise UserError(f"Removing words is limited to inputs of {MAX_TOKENS} tokens; this input has {len(encoding)}.")
    words: dict[int, list[int]] = {}
    for index, word in enumerate(encoding.word_index):
        if word is not None and index != place:
            words.setdefault(word, []).append(index)
    if not words:
        raise UserError("There is no other word to remove.")
    removed: list[list[int]] = [[], *words.values()]
    rows = []
    for begin in range(0, len(removed), BATCH):
        batch = removed[begin : begin + BATCH]
        at = [place - sum(index < place for index in places) for places in batch]
        hidden = states(pretrained.encoder, [_without(encoding, places) for places in batch])[0]
        with torch.inference_mode():
            rows.append(pretrained.word_logits(hidden[range(len(at)), at]).double().softmax(dim=-1).numpy())
        yield begin + len(batch), len(removed)
    chances = np.concatenate(rows)  # [1 + words, V]
    names = pretrained.tokenizer.convert_ids_to_tokens(list(candidates))
    firsts = pretrained.tokenizer.convert_ids_to_tokens(chances.argmax(axis=-1).tolist())
    return Removals(
        encoding=encoding,
        place=place,
        candidates=tuple(names),
        before=chances[0, list(candidates)],
        first=firsts[0],
        each=tuple(
            Removal(
                places=tuple(places),
                word="".join(encoding.tokens[index].removeprefix("##") for index in places),
                probabilities=chances[row, list(candidates)],
                first=firsts[row],
            )
            for row, places in enumerate(removed)
            if row
        ),
    )


def _without(encoding: Encoding, places: Sequence[int]) -> Encoding:
    """The input without these tokens. Only what a pass reads is kept true: the text and its offsets stay the old."""
    rest = [index for index in range(len(encoding)) if index not in places]
    entries: dict[str, Any] = {name: tuple(getattr(encoding, name)[index] for index in rest) for name in PER_TOKEN}
    return replace(encoding, **entries)
