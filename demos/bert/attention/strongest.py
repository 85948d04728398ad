"""The source of each token's strongest attention, over the mean of a layer's heads."""

from collections.abc import Sequence

import numpy as np


def strongest_sources(
    attentions: np.ndarray, count: int, left_out: Sequence[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """The `count` largest weights of each row of each layer's mean head, the largest first.

    attentions <float>[L, A, m, n], the rows of m of the n tokens -> (sources <int>[L, m, k], weights <float>[L, m, k]),
    with k = min(count, n): token i of a layer gives `weights[l, i, 0]` of its total weight of 1 to token
    `sources[l, i, 0]`. The tokens `left_out` come last, with the weight 0.
    """
    mean = attentions.mean(axis=1)  # [L, m, n]; its rows still sum to 1
    mean[..., list(left_out)] = 0
    sources = np.argsort(-mean, axis=-1, kind="stable")[..., :count]
    return sources, np.take_along_axis(mean, sources, axis=-1)


def share_of(attentions: np.ndarray, tokens: Sequence[int]) -> float:
    """The share of attention that goes to these tokens: of the weights [L, A, n, n] of all tokens, layers and heads."""
    return float(attentions[..., list(tokens)].sum(axis=-1).mean())
