"""What switching heads off moves, drawn (Plotly): layers x tokens, each cell 1 - cosine of before and after."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from demos.bert.model.encoding import Encoding
from demos.figures.matrix import BAR, LABELLED, label_size
from demos.figures.numbers import state_names
from demos.figures.palette import colour_scale, plotly_layout, word_colour
from demos.templates import plot_text

SHOWN = 128  # tokens
NUMBERED = 18  # tokens; with more, a cell is too narrow for its number
ROW = 40  # pixels a layer takes; fewer where there are many


def change_figure(cosines: np.ndarray, encoding: Encoding) -> go.Figure:
    """1 - cosine of each token's state before and after, [L + 1, n]: a row a hidden state, a column a token.

    Colours run from 0 to the largest change, but at least to 0.01: smaller ones are nothing to look at. Above its
    column a token has its word's hue. In dark mode demos/figures/matrix.css turns the colours of the picture round.
    """
    n = min(len(encoding), SHOWN)
    changes = 1 - cosines[:, :n]
    names = state_names(len(cosines) - 1)
    tokens = [plot_text(token) for token in encoding.tokens[:n]]
    columns = [f"{index} {token}" for index, token in enumerate(tokens)]
    special = encoding.special_tokens_mask[:n]
    labels = [f"<i>{token}</i>" if mark else token for token, mark in zip(tokens, special, strict=True)]
    top = max(0.01, float(changes.max()))
    figure = go.Figure(
        go.Heatmap(
            x=columns,
            y=names,
            z=np.round(changes, 5),
            zmin=0,
            zmax=top,
            colorscale=colour_scale("magnitude"),
            text=_numbers(changes, top) if n <= NUMBERED else None,
            texttemplate="%{text}" if n <= NUMBERED else None,
            textfont={"size": 13 if n <= 14 else 11},
            hovertemplate="<b>%{x}</b> after %{y}<br>1 − cosine %{z:.5f}<extra></extra>",
            xgap=1 if n <= LABELLED else 0,
            ygap=1,
            colorbar=BAR | {"tickformat": ".2~g", "nticks": 5},
        )
    )
    size = label_size(n)
    margin = int(min(130, 22 + max(map(len, encoding.tokens[:n])) * size * 0.6))
    row = ROW if len(names) <= 13 else 24
    figure.update_layout(
        **plotly_layout(height=row * len(names) + margin + 24, margin={"l": 112, "r": 10, "t": margin + 12, "b": 10})
    )
    step = 1 if n <= LABELLED else 4
    figure.update_xaxes(
        side="top", tickangle=-90, tickvals=columns[::step], ticktext=labels[::step], tickfont={"size": size},
        showgrid=False, ticks="", ticklabelstandoff=8,
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", tickfont={"size": 15}, ticklabelstandoff=6)
    hues = [  # the word's hue, between its name and its column; one update, as add_shape copies all before it
        {
            "type": "rect", "xref": "x", "x0": index - 0.46, "x1": index + 0.46,
            "yref": "paper", "ysizemode": "pixel", "yanchor": 1, "y0": 2, "y1": 7,
            "line": {"width": 0}, "fillcolor": word_colour(word),
        }
        for index, word in enumerate(encoding.word_index[:n])
    ]  # fmt: skip
    figure.update_layout(shapes=hues)
    return figure


def _numbers(changes: np.ndarray, top: float) -> list[list[str]]:
    """Each change in the ink that can be read on its cell; none for 0, so that what is untouched stays empty."""
    digits = 3 if top < 0.1 else 2
    return [
        [
            f'<span style="fill:{"#ffffff" if change > 0.55 * top else "#000000"}">{_short(change, digits)}</span>'
            for change in row
        ]
        for row in changes
    ]


def _short(change: float, digits: int) -> str:
    """ ".012": without the leading zero; nothing for what rounds to 0."""
    text = f"{change:.{digits}f}"
    return "" if float(text) == 0 else text.removeprefix("0")
