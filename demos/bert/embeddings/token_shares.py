"""How much of each token is in a sentence's vector, for every choice of pooling and layer."""

from __future__ import annotations

import numpy as np
import torch

from demos.bert.embeddings.pooling import NO_WORDS, POOLER, Choice, token_states, unknown_pooling
from demos.bert.model.run import Run
from demos.errors import UserError


def token_shares(run: Run, choice: Choice) -> np.ndarray:
    """[n], sums to 1. cls and pooler: all from the first token; mean: 1/n from each, or from each but [CLS] and [SEP].

    max: the share of the vector's numbers in which this token is the largest.
    Raises UserError for an unknown choice, or where there is no token to take the mean of.
    """
    n = len(run.encoding)
    if choice.pooling in ("cls", POOLER):
        return np.eye(1, n)[0]
    if choice.pooling == "mean":
        return np.full(n, 1 / n)
    if choice.pooling == "mean_no_special":
        words = 1 - np.array(run.encoding.special_tokens_mask)
        if not words.any():
            raise UserError(NO_WORDS)
        return words / words.sum()
    if choice.pooling == "max":
        states = token_states([torch.tensor(layer) for layer in run.hidden_states], choice.layer)  # [n, D]
        return np.bincount(states.argmax(dim=0).numpy(), minlength=n) / states.shape[1]
    raise UserError(unknown_pooling(choice.pooling))
