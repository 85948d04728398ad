"""Which numbers each mean is over, drawn over a batch; and what another sentence changes."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from demos.bert.encoder.batch_norm import Changes, States
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.strips import signed_colours, strips_limit
from demos.templates import plot_text

FEATURES = 16  # that are drawn
ROW = 19  # pixels a token takes
LAYER, BATCH = CLASSES[1], CLASSES[2]


def batch_figure(states: States, row: int, feature: int, padding_counts: bool) -> go.Figure:
    """All tokens of the batch down, the first FEATURES numbers across.

    The frame across is what layer norm's mean is over for token `row`, the frame down what batch norm's is over for
    `feature`; padding that does not count is left out of it.
    """
    tokens = [token for of_input in states.tokens for token in of_input]
    n = len(states.tokens[0])
    values = states.values.reshape(len(tokens), -1)[:, :FEATURES]
    places = list(range(len(tokens)))
    figure = go.Figure(
        go.Heatmap(
            z=np.round(values, 5), x=list(range(1, FEATURES + 1)), y=places, xgap=1, ygap=1,
            **signed_colours(strips_limit(list(values)), ".2g", x=1.01),
            hovertemplate="feature %{x} of “%{y}”<br><b>%{z:+.4f}</b><extra></extra>",
        )
    )  # fmt: skip
    figure.add_shape(
        type="rect", x0=0.5, x1=FEATURES + 0.5, y0=row - 0.5, y1=row + 0.5, line={"color": LAYER, "width": 4},
    )  # fmt: skip
    for start in range(0, len(tokens), n):
        length = n if padding_counts else int(states.real[start // n].sum())
        figure.add_shape(
            type="rect", x0=feature + 0.5, x1=feature + 1.5, y0=start - 0.5, y1=start + length - 0.5,
            line={"color": BATCH, "width": 4},
        )  # fmt: skip
        if start:
            figure.add_hline(y=start - 0.5, line={"width": 2, "color": "#8a9096", "dash": "dot"})
    figure.update_layout(
        **plotly_layout(height=ROW * len(tokens) + 70, margin={"l": 120, "r": 70, "t": 46, "b": 10}, showlegend=False)
    )
    figure.update_xaxes(**BARE, side="top", dtick=1, title={"text": f"features 1 to {FEATURES}", "standoff": 4})
    shown = [
        plot_text(token) if states.real.ravel()[place] else f"<i>{plot_text(token)}</i>"
        for place, token in enumerate(tokens)
    ]
    figure.update_yaxes(**BARE, tickvals=places, ticktext=shown, autorange="reversed", ticklabelstandoff=4)
    return figure


def changes_figure(changes: Changes) -> go.Figure:
    """Three bars a token of the first sentence: how far its output moves."""
    names = [f"{place} {plot_text(token)}" for place, token in enumerate(changes.tokens)]
    figure = go.Figure()
    for name, values, colour, pattern in (
        ("layer norm", changes.layer, LAYER, ""),
        ("batch norm, training", changes.train, BATCH, "/"),
        ("batch norm, test", changes.test, CLASSES[3], "."),
    ):
        figure.add_bar(
            x=names, y=np.round(values, 6), name=name, marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="<b>%{x}</b><br>moved by %{y:.2%}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(
        **plotly_layout(height=300, margin={"l": 70, "r": 10, "t": 36, "b": 20}, barmode="group"),
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    figure.update_xaxes(tickvals=names, ticktext=[plot_text(token) for token in changes.tokens], tickangle=-45)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", title={"text": "change of the output"})
    return figure
