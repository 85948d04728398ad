"""The sentences on one head and on all heads: weights and contributions, as numbers of this sentence."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.contributions import CONTRIBUTION, Measured
from demos.bert.attention.patterns import is_punctuation
from demos.bert.model.encoding import Encoding
from demos.templates import templates

TEXT = templates(__file__)


def head_html(chosen: Measured, other: Measured, layer: int, head: int) -> str:
    """A paragraph on a head by the `chosen` measure, with special tokens' share by the `other`; and one on all heads.

    Shares are of the sum of a row, averaged over the rows.
    """
    encoding = chosen.run.encoding
    amounts, shares = chosen.amounts(layer)[head], chosen.shares(layer)[head]
    query, key = (
        {"index": int(index), "text": encoding.tokens[index]}
        for index in np.unravel_index(int(amounts.argmax()), amounts.shape)
    )
    special = np.array(encoding.special_tokens_mask, dtype=bool)
    before, itself, after = (
        float(np.diagonal(shares, offset).mean()) if len(shares) > abs(offset) else 0.0 for offset in (-1, 0, 1)
    )
    return TEXT.head(
        chosen.measure == CONTRIBUTION,
        {"layer": layer, "head": head, "largest": amounts.max(), "query": query, "key": key},
        {"before": before, "itself": itself, "after": after},
        *(float(measured.shares(layer)[head][:, special].sum(axis=1).mean()) for measured in (chosen, other)),
    ) + all_heads_html(*sorted((chosen, other), key=lambda measured: measured.measure == CONTRIBUTION))


def all_heads_html(weights: Measured, norms: Measured) -> str:
    """The share of [CLS] and [SEP], and of punctuation marks, in all heads: by weight, and by contribution."""
    encoding = weights.run.encoding
    marks = np.array(list(map(is_punctuation, encoding.tokens)))
    of_special, of_marks = (
        [mean_share(measured, tokens) for measured in (weights, norms)]
        for tokens in (np.array(encoding.special_tokens_mask, dtype=bool), marks)
    )
    return TEXT.all_heads(of_special, of_marks if marks.any() else None)


def mean_share(by: Measured, tokens: np.ndarray) -> float:
    """The share of these tokens <bool>[n] in a row, averaged over all rows of all heads of all layers."""
    rows = [by.shares(layer)[..., tokens].sum(axis=-1).mean() for layer in range(by.run.num_layers)]
    return float(np.mean(rows))


def title(encoding: Encoding, measure: str, head: str, shown: int) -> str:
    """The title of the table of `head`, which has the first `shown` tokens."""
    what = "Norms of the contributions in" if measure == CONTRIBUTION else "Attention weights of"
    cut = f", the first {shown} of {len(encoding)} tokens" if shown < len(encoding) else ""
    return f"{what} {head}{cut}"
