"""The separation of senses at each layer, drawn (Plotly): two curves with their chance levels."""

import numpy as np

from demos.bert.embeddings.word_senses import SenseScores
from demos.counting import state_name
from demos.figures.axes import axis
from demos.figures.figure.figure import Figure, Mark
from demos.figures.palette import CLASSES, plotly_layout

RAND, NEIGHBOUR = CLASSES[7], CLASSES[6]  # neither senses' nor the curves' hues
HEIGHT = 400


def where(row: int) -> str:
    """The name of a row of the scores: "static table", "layer 3"."""
    return state_name(row - 1) if row else "the static table"


def scores_figure(scores: SenseScores) -> Figure:
    """The average over all words by layer, and the level of chance (dashed)."""
    rows = scores.rand.shape[1]
    x = list(range(rows))
    lines: list[Mark] = []
    names: list[Mark] = []
    above = {"x": 0, "y": 0.95, "xanchor": "left"}  # where neither curve passes
    below = {"x": rows - 1, "y": 0.16, "xanchor": "right"}
    blind = float(scores.chance.mean())
    for values, chance, colour, name, place in (
        (scores.neighbour.mean(axis=0), blind, NEIGHBOUR, "nearest use has the same sense", above),
        (scores.rand.mean(axis=0), 0.0, RAND, "clusters match senses", below),
    ):
        shared = {"type": "scatter", "x": x, "showlegend": False}
        level = {"y": [chance] * rows, "mode": "lines", "line": {"color": colour, "width": 2, "dash": "dash"}}
        hover = {"hovertemplate": f"chance: {chance:.2f}<extra>{name}</extra>", "name": f"chance: {name}"}
        lines.append(shared | level | hover)
        curve = {"y": np.round(values, 4), "mode": "lines+markers", "marker": {"size": 9}, "cliponaxis": False}
        hover = {"hovertemplate": f"%{{customdata}}: <b>%{{y:.3f}}</b><extra>{name}</extra>", "name": name}
        where_from = {"customdata": [where(row) for row in x], "line": {"color": colour, "width": 5}}
        lines.append(shared | curve | hover | where_from)
        text = f'<span style="color:{colour}">━</span> <b>{name}</b>'
        names.append(place | {"text": text, "showarrow": False, "font": {"size": 19}})
        end = {"x": rows - 1, "showarrow": False}
        last = {"text": f"<b>{values[-1]:.2f}</b>", "y": float(values[-1]), "xanchor": "left", "xshift": 10}
        names.append(end | last | {"font": {"size": 19}})
        names.append(end | {"text": "chance", "y": chance, "xanchor": "right", "yshift": 12, "font": {"size": 16}})
    layers = range(0, rows - 1, 1 if rows <= 14 else 3)
    title = "layer (0: the embedding output)"
    across = axis(title, 17, tickvals=[0, *(layer + 1 for layer in layers)], ticktext=["static", *map(str, layers)])
    low = min(0.0, float(scores.rand.mean(axis=0).min()))
    layout = plotly_layout(
        height=HEIGHT,
        margin={"l": 52, "r": 56, "t": 14, "b": 54},
        xaxis=across | {"range": [-0.3, rows - 0.7], "showgrid": False},
        yaxis={"range": [low - 0.04, 1.02], "tickfont": {"size": 17}, "nticks": 7, "zeroline": False},
        annotations=names,
    )
    return {"data": lines, "layout": layout}
