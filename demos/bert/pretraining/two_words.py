"""One sentence with either of two words in it: which predictions at [MASK] change, over the whole vocabulary."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch

from demos.bert.model.encoding import encode
from demos.bert.model.text import clean_text
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import states
from demos.errors import UserError

SLOT = "___"  # where the two words go
MOST_CHARACTERS = 300  # of a frame; of a word a tenth


@dataclass(frozen=True)
class TwoWords:
    """The distributions at [MASK] of the same sentence with each of two words."""

    words: tuple[str, str]
    sentences: tuple[str, str]
    tokens: tuple[str, ...]  # V word pieces
    probabilities: np.ndarray  # <float64>[2, V]

    @cached_property
    def differences(self) -> np.ndarray:
        """<float64>[V]: the probability with the first word minus that with the second."""
        return self.probabilities[0] - self.probabilities[1]

    @property
    def distance(self) -> float:
        """The total variation distance of both distributions: half the sum of absolute differences, 0 to 1."""
        return float(np.abs(self.differences).sum() / 2)

    def most(self, side: int, count: int) -> list[int]:
        """The ids of the words whose probability is higher with this word (0 or 1), the largest difference first."""
        gains = self.differences if side == 0 else -self.differences
        return [int(index) for index in self._orders[side][:count] if gains[index] > 0]

    @cached_property
    def _orders(self) -> tuple[np.ndarray, np.ndarray]:
        """All ids, by the gain with each word, the largest first."""
        first, second = (np.argsort(sign * self.differences, kind="stable") for sign in (-1, 1))
        return first, second


def compare(pretrained: Pretrained, frame: str, words: tuple[str, str]) -> TwoWords:
    """Both distributions. Raises UserError if the frame has no SLOT or does not have exactly one [MASK]."""
    mask = pretrained.tokenizer.mask_token
    frame = clean_text(frame).strip()
    cleaned = tuple(clean_text(word).strip() for word in words)
    if len(frame) > MOST_CHARACTERS or max(map(len, cleaned)) > MOST_CHARACTERS // 10:
        raise UserError(
            f"The limit is {MOST_CHARACTERS} characters for the sentence and {MOST_CHARACTERS // 10} for a word."
        )
    if SLOT not in frame:
        raise UserError(f"The sentence needs {SLOT} where the two words go.")
    if not all(cleaned):
        raise UserError("Write both words.")
    if cleaned[0] == cleaned[1]:
        raise UserError("The two words are the same.")
    first, second = (frame.replace(SLOT, word) for word in cleaned)
    encodings = [encode(pretrained.tokenizer, sentence) for sentence in (first, second)]
    masks = [[at for at, token in enumerate(each.tokens) if token == mask] for each in encodings]
    if any(len(places) != 1 for places in masks):
        raise UserError(f"The sentence needs exactly one {mask}, with each of the two words.")
    hidden = states(pretrained.encoder, encodings)[0]  # [2, n, d]
    with torch.inference_mode():
        logits = pretrained.word_logits(hidden[[0, 1], [places[0] for places in masks]])  # [2, V]
    chances = logits.double().softmax(dim=-1).numpy()
    return TwoWords((cleaned[0], cleaned[1]), (first, second), _pieces(pretrained.tokenizer, chances.shape[1]), chances)


@lru_cache(maxsize=4)
def _pieces(tokenizer: Any, count: int) -> tuple[str, ...]:
    """The first `count` of the vocabulary, by their ids."""
    return tuple(tokenizer.convert_ids_to_tokens(list(range(count))))
