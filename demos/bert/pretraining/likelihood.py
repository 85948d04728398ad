"""The likelihood of a sentence, word piece by word piece: each is masked in turn and predicted from all others."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.model.encoding import Encoding, check_length
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import hide, states
from demos.errors import UserError

MAX_TOKENS = 128  # each is a separate pass
PASS_TOKENS = 1_024  # in one batch, so that a reader sees it get on


@dataclass(frozen=True)
class Likelihood:
    """A sentence's pseudo-log-likelihood (Salazar et al. 2020, section 2), as far as it is computed."""

    encoding: Encoding
    places: tuple[int, ...]  # every token but the special ones
    log_probabilities: np.ndarray  # <float64>[m], natural, m <= len(places): of the true token at each place

    @property
    def done(self) -> bool:
        return len(self.log_probabilities) == len(self.places)

    @property
    def total(self) -> float:
        """PLL: the sum over the places."""
        return float(self.log_probabilities.sum())

    @property
    def perplexity(self) -> float:
        """exp(-PLL / n), the same paper's pseudo-perplexity, of one sentence: so many equally likely words a place."""
        return float(np.exp(-self.log_probabilities.mean()))


def pseudo_likelihood(pretrained: Pretrained, encoding: Encoding) -> Iterator[Likelihood]:
    """Masks each token in turn, some in one batch; yields the partial result after each batch, at last the whole.

    Raises UserError for a sentence without words, with a [MASK] in it, or over MAX_TOKENS tokens.
    """
    places = tuple(index for index, special in enumerate(encoding.special_tokens_mask) if not special)
    if not places:
        raise UserError("There is no word to score; type a sentence.")
    if pretrained.tokenizer.mask_token_id in encoding.input_ids:
        raise UserError("The sentence contains [MASK]; replace it with a word, since every word is scored.")
    check_length(encoding, MAX_TOKENS)
    rows = max(1, PASS_TOKENS // len(encoding))
    known: list[float] = []
    for start in range(0, len(places), rows):
        batch = places[start : start + rows]
        hidden = states(pretrained.encoder, [hide(pretrained.tokenizer, encoding, [place]) for place in batch])[0]
        with torch.inference_mode():
            logits = pretrained.word_logits(hidden[range(len(batch)), batch])  # [b, V]
            chances = logits.double().log_softmax(dim=-1)
        known += [float(chances[row, encoding.input_ids[place]]) for row, place in enumerate(batch)]
        yield Likelihood(encoding, places, np.array(known))
