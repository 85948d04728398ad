"""The tokens of a few sentences as points for a map: of one layer, or of every layer at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.embeddings.maps import MAX_POINTS
from demos.bert.embeddings.pooling import token_states
from demos.bert.model.run import Run
from demos.errors import UserError

MAX_LINES = 12


@dataclass(frozen=True, eq=False)
class TokenPoints:
    """m points: a token's vector each. In every-layer mode a token has L + 1 of them, `step` points apart."""

    vectors: np.ndarray  # float32 [m, d]
    tokens: tuple[str, ...]
    sentence: np.ndarray  # int [m]
    layer: np.ndarray  # int [m]; -1 where only one layer is shown
    special: np.ndarray  # bool [m]: [CLS] and [SEP]
    step: int  # tokens in all


def token_points(runs: Sequence[Run], layer: int | str | None) -> TokenPoints:
    """The tokens' hidden states of one layer (or a combination, as `token_states` takes it), or, with None, of all.

    Layers follow each other, 0 (the embedding output) first. Raises UserError for more than MAX_POINTS points.
    """
    tokens = tuple(token for run in runs for token in run.encoding.tokens)
    sentence = np.concatenate([np.full(len(run.encoding), number) for number, run in enumerate(runs)])
    special = np.concatenate([np.array(run.encoding.special_tokens_mask, dtype=bool) for run in runs])
    n, states = len(tokens), runs[0].hidden_states.shape[0]
    count = n if layer is not None else n * states
    if count > MAX_POINTS:
        raise UserError(
            f"These sentences make {count:,} points; the limit is {MAX_POINTS:,}: take fewer or shorter ones."
        )
    if layer is not None:
        vectors = np.concatenate([_states(run, layer) for run in runs])
        return TokenPoints(vectors, tokens, sentence, np.full(n, -1), special, n)
    hidden = np.concatenate([run.hidden_states for run in runs], axis=1)  # [L + 1, n, d]
    return TokenPoints(
        hidden.reshape(count, -1),
        tokens * states,
        np.tile(sentence, states),
        np.repeat(np.arange(states), n),
        np.tile(special, states),
        n,
    )


def _states(run: Run, layer: int | str) -> np.ndarray:
    """[n, d], or [n, 4d] for four layers side by side."""
    hidden = [torch.tensor(states) for states in run.hidden_states]
    return np.asarray(token_states(hidden, layer).numpy())
