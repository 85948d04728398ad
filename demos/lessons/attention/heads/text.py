"""A head in words: its strongest weight, how sharp it is, what special tokens get."""

from __future__ import annotations

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.templates import templates

TEXT = templates(__file__)


def head_html(weights: np.ndarray, encoding: Encoding, layer: int, head: int, lengths: np.ndarray | None = None) -> str:
    """One paragraph on a head's weights [n, n].

    With the `lengths` [n] of the vectors that are weighted, also what special tokens' share is in lengths.
    """
    query, key = (
        {"index": int(index), "text": encoding.tokens[index]}
        for index in np.unravel_index(int(weights.argmax()), weights.shape)
    )
    special = np.array(encoding.special_tokens_mask[: len(weights)], dtype=bool)
    before, itself, after = (np.diagonal(weights, offset).mean() for offset in (-1, 0, 1))
    products = None if lengths is None else weights * lengths
    return TEXT.head(
        layer=layer,
        head=head,
        weight=weights.max(),
        query=query,
        key=key,
        before=before,
        itself=itself,
        after=after,
        special=weights[:, special].sum() / weights.sum(),
        special_by_length=None if products is None else products[:, special].sum() / products.sum(),
    )
