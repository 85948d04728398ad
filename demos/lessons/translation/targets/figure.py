"""The target beside two distributions over a few words."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.templates import plot_text

SERIES = (("target", CLASSES[2], "/"), ("before training", SPECIAL, "."), ("after training", CLASSES[0], ""))


def target_figure(rows: Sequence[tuple[str, float, float, float]]) -> go.Figure:
    """Bars for each word: (word, its target, its probability before training, and after)."""
    figure = go.Figure()
    for at, (name, colour, pattern) in enumerate(SERIES, start=1):
        figure.add_bar(
            x=[plot_text(row[0]) for row in rows], y=[round(float(row[at]), 4) for row in rows], name=name,
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: %{y:.4f}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(**plotly_layout(height=340, margin={"l": 60, "r": 10, "t": 40, "b": 40}))
    figure.update_layout(
        barmode="group",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        showlegend=True,
    )
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%", title={"text": "probability"})
    return figure
