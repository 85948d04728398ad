"""The accuracy of every head at one relation, drawn (Plotly): layers x heads."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.grammar import Relation, best_place
from demos.counting import counted
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR
from demos.figures.palette import PALETTE, colour_scale, inked, plotly_layout

SCALE = colour_scale("magnitude")
MARK = PALETTE["signed"][0]
ROW = 40  # pixels a layer takes; fewer where there are many


def accuracy_figure(relation: Relation, direction: int) -> Figure:
    """The accuracies [L, A] in percent; the best head is outlined."""
    values = relation.accuracy[direction]
    layers, heads = values.shape
    _, layer, head = best_place(relation.hits[direction : direction + 1])
    heatmap = {
        "type": "heatmap",
        "x": list(range(1, heads + 1)),
        "y": list(range(1, layers + 1)),
        "z": np.round(values, 4),
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "text": [[inked(f"{value * 100:.0f}", SCALE, float(value)) for value in row] for row in values],
        "texttemplate": "%{text}",
        "textfont": {"size": SMALL},
        "hovertemplate": "layer %{y}, head %{x}<br>accuracy %{z:.1%}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
        "colorbar": BAR | {"tickformat": ".0%", "nticks": 6},
    }
    x, y = counted(head), counted(layer)
    box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "line": {"color": MARK, "width": 3}}
    plain = {"showgrid": False, "zeroline": False, "ticks": "", "dtick": 1, "tickfont": {"size": SMALL}}
    layout = plotly_layout(
        height=(ROW if layers <= 12 else 24) * layers + 96,
        margin={"l": 74, "r": 10, "t": 58, "b": 14},
        xaxis=plain | {"side": "top", "title": {"text": "head", "standoff": 6}},
        yaxis=plain | {"autorange": "reversed", "title": {"text": "layer", "standoff": 14}},
        shapes=[{"type": "rect"} | box],
    )
    return {"data": [heatmap], "layout": layout}
