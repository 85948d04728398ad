"""Two runs' curves laid over one another: validation loss and score by epoch, the first solid, the second dashed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import plot_text
from demos.training.metrics import CORRELATIONS
from demos.training.results.history import Record

DASHES = ("solid", "dash")
HUES = (CLASSES[0], CLASSES[5])
SYMBOLS = ("circle", "square")


def overlay_figure(records: Sequence[Record]) -> go.Figure:
    """At most two runs. Thin and pale behind the validation loss: the training loss of each batch."""
    metrics = list(dict.fromkeys(record.metric for record in records))
    figure = make_subplots(
        rows=1, cols=2, horizontal_spacing=0.12,
        subplot_titles=("validation loss", f"validation {'<br>and '.join(map(plot_text, metrics)) or 'score'}"),
    )  # fmt: skip
    for record, dash, hue, symbol in zip(records, DASHES, HUES, SYMBOLS, strict=False):
        name = f"run {record.number}"
        shared: dict[str, Any] = {"legendgroup": name, "line": {"color": hue, "width": 3.5, "dash": dash}}
        known = [(epoch, loss) for epoch, loss in record.curve if loss is not None]
        if known:
            figure.add_scatter(
                x=[round(epoch, 3) for epoch, _ in known],
                y=[loss for _, loss in known],
                mode="lines",
                line={"color": hue, "width": 1.5},
                opacity=0.55,
                hoverinfo="skip",
                name="training loss",
                showlegend=record is records[0],
                legendgroup="training",
                legendrank=2000,  # behind the runs
                row=1,
                col=1,
            )
        for column, place in ((1, 1), (2, 2)):
            points = [(look[0], look[place]) for look in record.looks if look[place] is not None]
            figure.add_scatter(
                x=[round(epoch, 3) for epoch, _ in points],
                y=[value for _, value in points],
                mode="lines+markers",
                name=name,
                marker={"size": 9, "symbol": symbol},
                showlegend=column == 1,
                hovertemplate=f"{name}, epoch %{{x:.2g}}<br>%{{y:.3f}}<extra></extra>",
                row=1,
                col=column,
                **shared,
            )
    figure.update_layout(**plotly_layout(height=400, margin={"l": 50, "r": 20, "t": 66, "b": 52}))
    figure.update_layout(
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0, "font": {"size": 18}, "itemwidth": 60}
    )
    figure.update_annotations(font_size=18)
    figure.update_xaxes(title={"text": "epoch", "font": {"size": 16}}, tickfont={"size": 16}, rangemode="tozero")
    figure.update_yaxes(tickfont={"size": 16}, zeroline=False)
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    shares = not set(metrics) & set(CORRELATIONS)
    if shares and all(0 <= (score or 0) <= 1 for record in records for *_, score in record.looks):
        figure.update_yaxes(range=[0, 1.03], tickformat=".0%", row=1, col=2)
    return figure
