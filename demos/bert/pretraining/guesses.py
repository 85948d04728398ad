"""A model's predictions at a position, and the choice of a position if the reader makes none."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from demos.bert.model.encoding import Encoding
from demos.errors import UserError

Logits = Callable[[torch.Tensor], torch.Tensor]  # hidden states [..., d] -> a score for each word piece [..., V]
LONGER = 4  # letters


@dataclass(frozen=True)
class Guess:
    """One predicted word for the position."""

    token: str
    token_id: int
    probability: float
    logit: float


def guesses(word_logits: Logits, tokenizer: Any, hidden: np.ndarray, count: int = 5) -> list[Guess]:
    """The likeliest words for one place's last hidden state [d], the likeliest first."""
    with torch.inference_mode():
        logits = word_logits(torch.from_numpy(np.array(hidden)))  # [V]
        probabilities = logits.softmax(dim=-1)
    return [guess_at(tokenizer, logits, probabilities, index) for index in logits.topk(count).indices.tolist()]


def guess_at(tokenizer: Any, logits: torch.Tensor, probabilities: torch.Tensor, index: int) -> Guess:
    """One word of a place's logits and probabilities [V]."""
    return Guess(tokenizer.convert_ids_to_tokens(index), index, float(probabilities[index]), float(logits[index]))


def place_to_guess(
    encoding: Encoding, mask_token: str, among: int | None = None, side: int | None = None
) -> int | None:
    """The default position to predict: the sentence's own first [MASK], else the middle one of its longer words.

    Only the first `among` tokens count, and of a pair only the sentence `side`, where either is given.

    Longer are four letters and more, which leaves out most words that any sentence has; a word in the
    middle has context on both sides. Only words of one token count; None for a sentence without.
    """
    tokens = [
        (index, token)
        for index, token in enumerate(encoding.tokens[:among])
        if side is None or encoding.sequence_ids[index] == side
    ]
    hidden = [index for index, token in tokens if token == mask_token]
    if hidden:
        return hidden[0]
    words = encoding.word_index
    whole = [
        index
        for index, token in tokens
        if words[index] is not None and words.count(words[index]) == 1 and token.isalpha()
    ]
    whole = [index for index in whole if len(encoding.tokens[index]) >= LONGER] or whole
    return whole[(len(whole) - 1) // 2] if whole else None


def masked(tokenizer: Any, encoding: Encoding, index: int) -> Encoding:
    """The same input with [MASK] for the token at `index`. Raises UserError where there is no such token."""
    if index not in range(len(encoding)) or encoding.special_tokens_mask[index]:
        raise UserError(f"Token {index} is not a word that can be masked; choose another one.")
    tokens, ids = list(encoding.tokens), list(encoding.input_ids)
    tokens[index], ids[index] = tokenizer.mask_token, tokenizer.mask_token_id
    return replace(encoding, tokens=tuple(tokens), input_ids=tuple(ids))
