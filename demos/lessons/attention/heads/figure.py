"""One head drawn: its heatmap (Plotly), the same numbers as a table, and a sentence that says what they show."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from demos.bert.attention.matrix_labels import Labels
from demos.bert.model.encoding import Encoding
from demos.figures.matrix import matrix_figure, matrix_table


def heatmap(weights: np.ndarray, encoding: Encoding) -> go.Figure:
    """Weights [n, n] of one head over the first n tokens, a row a query; colours from 0 to the largest weight."""
    tokens = Labels.of_tokens(encoding, len(weights))
    return matrix_figure(weights, tokens, tokens)


def weights_table(weights: np.ndarray, encoding: Encoding, title: str) -> str:
    """The weights [n, n] as an HTML table: a row a query, a column a key, and each row's sum."""
    tokens = Labels.of_tokens(encoding, len(weights))
    return matrix_table(weights, tokens, tokens, title)


def told(weights: np.ndarray, encoding: Encoding, layer: int, head: int, lengths: np.ndarray | None = None) -> str:
    """One paragraph (HTML) on a head's weights [n, n]: its strongest one, how sharp it is, what special tokens get.

    With the `lengths` [n] of the vectors that are weighted, also what special tokens' share is in lengths.
    """
    n = len(weights)
    query, key = np.unravel_index(int(weights.argmax()), weights.shape)
    special = np.array(encoding.special_tokens_mask[:n], dtype=bool)
    share = weights[:, special].sum() / weights.sum()
    before, itself, after = (float(np.diagonal(weights, offset).mean()) for offset in (-1, 0, 1))
    added = ""
    if lengths is not None:
        products = weights * lengths
        added = (
            f" Counted as weight × length of the weighted vector, which is nearer to what they add, it is "
            f"{products[:, special].sum() / products.sum():.0%}."
        )
    strongest = f"{weights.max():.2f}, from {_quoted(encoding, int(query))} to {_quoted(encoding, int(key))}"
    return (
        f"<p><b>Layer {layer}, head {head}.</b> The strongest weight is {strongest}. On average a token gives "
        f"{before:.2f} to the token before it, {itself:.2f} to itself and {after:.2f} to the next one; {share:.0%} of "
        f"all attention goes to [CLS] and [SEP].{added}</p>"
    )


def _quoted(encoding: Encoding, index: int) -> str:
    return f"<q>{html.escape(encoding.tokens[index])}</q> (token {index})"
