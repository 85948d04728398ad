"""A distribution before and after temperature, top-k and top-p."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.templates import plot_text


def distribution_figure(rows: Sequence[tuple[str, float, float]]) -> go.Figure:
    """Bars for each word: (word, the model's probability, that with which it is drawn)."""
    names = [plot_text(word) for word, _, _ in rows]
    figure = go.Figure()
    for at, (name, colour, pattern) in enumerate((("the model's", SPECIAL, "/"), ("drawn with", CLASSES[0], ""))):
        figure.add_bar(
            y=names, x=[round(float(row[1 + at]), 4) for row in rows], orientation="h", name=name,
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{y}: %{x:.4f}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(**plotly_layout(height=110 + 34 * len(rows), margin={"l": 110, "r": 20, "t": 40, "b": 40}))
    figure.update_layout(
        barmode="group",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        showlegend=True,
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    return figure
