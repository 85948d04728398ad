"""The effect of a rotation by the position on two components of a query and of a key, and on their product."""

import math
from typing import Any

import numpy as np

from demos.bert.encoder.rotary import frequencies, rotated
from demos.figures.figure.figure import Attributes, Figure, Trace
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.templates import templates

TEXT = templates(__file__)
HEAD = 64  # components of a head's query, as in ModernBERT and BERT
PAIRS, POSITIONS = HEAD // 2, 30
QUERY, KEY = (0.9, 0.35), (0.55, 0.8)  # before the rotation: an example


def pair_at(components: tuple[float, float], pair: int, position: float) -> np.ndarray:
    """[2]: the two components as pair `pair` (from 0) of a head's vector at `position`."""
    vector = np.zeros(HEAD)
    vector[[pair, pair + PAIRS]] = components
    return rotated(vector, position)[[pair, pair + PAIRS]]


def product(pair: int, query: float, key: float) -> float:
    """The share of this pair in the score of a query and a key at their positions."""
    return float(pair_at(QUERY, pair, query) @ pair_at(KEY, pair, key))


def rotation_figure(pair: int, query: int, key: int) -> Figure:
    """The two arrows before and after, and the product for each distance, the present one marked."""
    after = (pair_at(QUERY, pair, query), pair_at(KEY, pair, key))
    named = (("q", QUERY, after[0], query, CLASSES[0]), ("k", KEY, after[1], key, CLASSES[1]))
    traces: list[Trace] = []
    for name, before, now, position, colour in named:
        grey = {"color": SPECIAL, "width": 2, "dash": "dot"}
        traces.append(_arrow(f"{name} without a position", before, grey, ""))
        line = {"color": colour, "width": 4}
        traces.append(_arrow(f"{name} at position {position}", now, line, f"{name} at {position}"))
    distances = list(range(-POSITIONS, POSITIONS + 1))
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": distances,
        "xaxis": "x2",
        "yaxis": "y2",
        "name": "q · k",
        "y": [product(pair, 0, distance) for distance in distances],
        "line": {"color": CLASSES[2], "width": 3},
        "hovertemplate": "distance %{x}: %{y:.3f}<extra></extra>",
    }
    here = {
        "type": "scatter",
        "mode": "markers",
        "x": [key - query],
        "y": [product(pair, query, key)],
        "xaxis": "x2",
        "yaxis": "y2",
        "name": "q · k here",
        "marker": {"size": 15, "color": CLASSES[2]},
        "hovertemplate": "distance %{x}: %{y:.3f}<extra></extra>",
    }
    unit = {"range": [-1.3, 1.3], "zeroline": True, "tickvals": [-1, 0, 1]}
    layout = plotly_layout(
        height=300,
        margin={"l": 40, "r": 10, "t": 30, "b": 50},
        showlegend=False,
        xaxis=unit | {"domain": [0, 0.36], "constrain": "domain"},
        yaxis=unit | {"scaleanchor": "x"},
        xaxis2={"domain": [0.46, 1], "anchor": "y2", "title": {"text": "distance: k − q", "standoff": 4}},
        yaxis2={"anchor": "x2", "range": [-1.1, 1.1]},
        annotations=[
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.46,
                "y": 1,
                "xanchor": "left",
                "yanchor": "bottom",
                "text": "q · k at each distance",
                "showarrow": False,
                "font": {"size": 16},
            }
        ],
    )
    return {"data": [*traces, curve, here], "layout": layout}


def _arrow(name: str, end: Any, line: Attributes, label: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "x": [0.0, float(end[0])],
        "y": [0.0, float(end[1])],
        "name": name,
        "line": line,
        "marker": {"size": [0, 9], "color": line["color"]},
        "text": ["", label],
        "textposition": "top center",
        "hovertemplate": f"{name}: %{{x:.3f}}, %{{y:.3f}}<extra></extra>",
    }


def rotation_html(pair: int, query: int, key: int) -> str:
    """The angles and the product in words, and the same product with both positions moved by five."""
    angle = math.degrees(float(frequencies(HEAD)[pair]))
    here, moved = product(pair, query, key), product(pair, query + 5, key + 5)
    return TEXT.rotation(pair + 1, PAIRS, angle, query, key, here, moved)
