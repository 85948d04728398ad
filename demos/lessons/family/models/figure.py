"""The family as a timeline: a row for each model, by the month of its first version."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from demos.figures.numbers import with_prefix
from demos.figures.palette import CLASSES, plotly_layout
from demos.lessons.family.models.models import SEES, Model
from demos.templates import plot_text

ROW = 25  # pixels
SYMBOLS = ("diamond", "circle", "triangle-right", "square")
LATE = "2022"  # from here on, the name stands on the left


def timeline(models: Sequence[Model]) -> go.Figure:
    """A mark for each model, its hue and its shape by what a word's state depends on."""
    figure = go.Figure()
    for sees, colour, symbol in zip(SEES, CLASSES, SYMBOLS, strict=False):
        some = [(row, model) for row, model in enumerate(models) if model.sees == sees]
        figure.add_scatter(
            x=[f"{model.date}-01" for _, model in some],
            y=[row for row, _ in some],
            mode="markers+text",
            marker={"size": 15, "color": colour, "symbol": symbol},
            text=[f" {plot_text(model.name)} " for _, model in some],
            textposition=["middle left" if model.date > LATE else "middle right" for _, model in some],
            textfont={"size": 16},
            name=sees,
            customdata=[
                (plot_text(model.changed), f"{with_prefix(model.parameters, '')} parameters")
                if model.parameters
                else (plot_text(model.changed), "size not published")
                for _, model in some
            ],
            hovertemplate="<b>%{text}</b>%{x|%B %Y}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            cliponaxis=False,
        )
    figure.update_layout(
        **plotly_layout(
            height=ROW * len(models) + 90,
            margin={"l": 10, "r": 10, "t": 36, "b": 30},
            legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "title": {"text": "A state sees: "}},
        )
    )
    figure.update_xaxes(range=["2017-03-01", "2023-06-01"], dtick="M12", tickformat="%Y")
    figure.update_yaxes(range=[len(models) - 0.4, -0.6], visible=False)
    return figure
