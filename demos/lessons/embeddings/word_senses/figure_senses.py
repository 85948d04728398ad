"""How well each layer tells senses apart, drawn (Plotly): two curves with their chance levels."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from demos.bert.embeddings.word_senses import SenseScores
from demos.counting import state_name
from demos.figures.axes import axis
from demos.figures.palette import CLASSES, plotly_layout

RAND, NEIGHBOUR = CLASSES[7], CLASSES[6]  # neither senses' nor the curves' hues
HEIGHT = 400


def where(row: int) -> str:
    """What a row of the scores is called: "static table", "layer 3"."""
    return state_name(row - 1) if row else "the static table"


def scores_figure(scores: SenseScores) -> go.Figure:
    """The average over all words by layer, and what chance would give (dashed)."""
    rows = scores.rand.shape[1]
    x = list(range(rows))
    figure = go.Figure()
    above = {"x": 0, "y": 0.95, "xanchor": "left"}  # where neither curve passes
    below = {"x": rows - 1, "y": 0.16, "xanchor": "right"}
    blind = float(scores.chance.mean())
    for values, chance, colour, name, place in (
        (scores.neighbour.mean(axis=0), blind, NEIGHBOUR, "nearest use has the same sense", above),
        (scores.rand.mean(axis=0), 0.0, RAND, "clusters match senses", below),
    ):
        figure.add_scatter(
            x=x, y=[chance] * rows, mode="lines", line={"color": colour, "width": 2, "dash": "dash"},
            hovertemplate=f"chance: {chance:.2f}<extra>{name}</extra>", showlegend=False, name=f"chance: {name}",
        )  # fmt: skip
        figure.add_scatter(
            x=x, y=np.round(values, 4), mode="lines+markers", line={"color": colour, "width": 5}, marker={"size": 9},
            name=name, showlegend=False, cliponaxis=False, customdata=[where(row) for row in x],
            hovertemplate=f"%{{customdata}}: <b>%{{y:.3f}}</b><extra>{name}</extra>",
        )  # fmt: skip
        figure.add_annotation(
            text=f'<span style="color:{colour}">━</span> <b>{name}</b>', showarrow=False, font={"size": 19}, **place
        )
        figure.add_annotation(
            text=f"<b>{values[-1]:.2f}</b>", x=rows - 1, y=float(values[-1]), xanchor="left", xshift=10,
            showarrow=False, font={"size": 19},
        )  # fmt: skip
        figure.add_annotation(
            text="chance", x=rows - 1, y=chance, xanchor="right", yshift=12, showarrow=False, font={"size": 16}
        )
    step = 1 if rows <= 14 else 3
    layers = range(0, rows - 1, step)
    figure.update_layout(**plotly_layout(height=HEIGHT, margin={"l": 52, "r": 56, "t": 14, "b": 54}))
    title = "layer (0: the embedding output)"
    across = axis(title, 17, tickvals=[0, *(layer + 1 for layer in layers)], ticktext=["static", *map(str, layers)])
    figure.update_xaxes(across, range=[-0.3, rows - 0.7], showgrid=False)
    low = min(0.0, float(scores.rand.mean(axis=0).min()))
    figure.update_yaxes(range=[low - 0.04, 1.02], tickfont={"size": 17}, nticks=7, zeroline=False)
    return figure
