"""One step of pre-training in pictures: the gradient's norm by layer, and the distance that each embedding moved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, plotly_layout
from demos.training.pretraining.rows import Rows

HEIGHT = 330
BINS = 18  # of a logarithmic axis
NOWHERE, THERE = "not in the batch", "in the input, or a correct answer"
COLOURS = {THERE: CLASSES[0], NOWHERE: CLASSES[2]}


def gradient_figure(norms: Mapping[str, float]) -> Figure:
    """The norm of the current gradient, one bar per group of parameters, the embeddings at the bottom."""
    names, values = list(norms), [float(value) for value in norms.values()]
    bars = {
        "type": "bar",
        "x": values,
        "y": names,
        "orientation": "h",
        "marker": {"color": CLASSES[0]},
        "text": [f"{value:.2f}" for value in values],
        "textposition": "outside",
        "textfont": {"size": 16},
        "cliponaxis": False,
        "hovertemplate": "%{y}: <b>%{x:.4f}</b><extra></extra>",
    }
    layout = plotly_layout(
        height=max(HEIGHT, 90 + 24 * len(names)),
        margin={"l": 120, "r": 64, "t": 8, "b": 46},
        bargap=0.25,
        xaxis={"title": {"text": "norm of the gradient"}, "rangemode": "tozero", "zeroline": False},
        yaxis={"tickfont": {"size": 16}, "showgrid": False},
    )
    return {"data": [bars], "layout": layout}


def groups(rows: Rows) -> dict[str, np.ndarray]:
    """The rows <bool>[V] that belong to the batches' words, in the input or as a correct answer."""
    there = (rows.in_input > 0) | (rows.as_answer > 0)
    return {THERE: there, NOWHERE: ~there}


def moved_figure(rows: Rows) -> Figure:
    """The distances that the rows of the word embeddings moved: each group's shares along a logarithmic axis.

    Rows that did not move at all have no place on such an axis; the words beside the picture count them.
    """
    moved = rows.moved
    some = moved[moved > 0]
    low, high = (np.floor(np.log10(some.min())), np.log10(some.max()) + 0.05) if some.size else (-7.0, 0.0)
    edges = np.linspace(low, high, BINS + 1)
    middles = 10 ** ((edges[1:] + edges[:-1]) / 2)
    traces = []
    for name, members in reversed(groups(rows).items()):
        of = moved[members & (moved > 0)]
        if not of.size:
            continue
        counts, _ = np.histogram(np.log10(of), edges)
        bars = {
            "type": "bar",
            "x": middles,
            "y": counts / members.sum(),
            "width": np.diff(10**edges),
            "name": f"{name}: {members.sum():,}",
            "marker": {"color": COLOURS[name], "line": {"width": 0}},
            "opacity": 0.85,
            "customdata": counts,
            "hovertemplate": f"{name}: <b>%{{customdata:,}}</b> words, moved by about %{{x:.1e}}<extra></extra>",
        }
        traces.append(bars)
    exponents = {"type": "log", "dtick": 1, "exponentformat": "power", "range": [low, high]}
    layout = plotly_layout(
        height=HEIGHT,
        barmode="overlay",
        margin={"l": 62, "r": 16, "t": 8, "b": 84},
        legend={"orientation": "h", "y": -0.3, "traceorder": "reversed", "font": {"size": 16}},
        xaxis=exponents | {"title": {"text": "distance moved"}},
        yaxis={"tickformat": ".0%", "title": {"text": "share of its group"}, "rangemode": "tozero"},
    )
    return {"data": traces, "layout": layout}
