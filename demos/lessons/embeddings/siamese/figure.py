"""A siamese training drawn: each held-out pair's cosine against its rating, and the distribution of all cosines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.bert.embeddings.agreement import Pair
from demos.figures.cosine_heatmap import jittered, short
from demos.figures.figure.figure import Axis, Figure, Trace
from demos.figures.palette import CLASSES, SPECIAL, channels_of, plotly_layout
from demos.templates import plot_text

BEFORE, AFTER = SPECIAL, CLASSES[0]
NAMED_PAIRS = 250  # with more the words of each would weigh more than the picture
BINS = 20
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}}  # where the legend is


def scatter_figure(
    pairs: Sequence[Pair], top: float, before: Sequence[float], after: Sequence[float] | None, marked: int
) -> Figure:
    """Cosine against rating of every held-out pair, grey before training, blue after it; the pair `marked` has a ring.

    Points are moved sideways by a little, from one seed, so as not to hide each other. The dashed line is what the
    training aims at: cosine = rating / top.
    """
    moved = np.round(jittered(np.array([pair.score for pair in pairs])), 3)
    few = len(pairs) <= NAMED_PAIRS
    named = [_named(pair) if few else f"rated {pair.score:g}" for pair in pairs]
    aim = {"x": [0, top], "y": [0, 1], "mode": "lines", "line": {"color": SPECIAL, "width": 2, "dash": "dash"}}
    traces: list[Trace] = [{"type": "scatter", "name": "target of training", "hoverinfo": "skip"} | aim]
    size = 10 if few else 6
    for name, cosines, colour, symbol in (
        ("before", before, BEFORE, "circle-open"),
        ("after", after, AFTER, "circle"),
    ):
        if cosines is not None:
            traces.append(
                {
                    "type": "scatter",
                    "x": moved,
                    "y": np.round(np.asarray(cosines, np.float64), 4),
                    "mode": "markers",
                    "name": f"{name} training",
                    "marker": {"size": size, "color": colour, "symbol": symbol, "line": {"width": 2}},
                    "customdata": named,
                    "hovertemplate": f"%{{customdata}}<br>cosine {name} %{{y:.3f}}<extra></extra>",
                }
            )
    if 0 <= marked < len(pairs):
        shown = before if after is None else after
        ring = {"size": 20, "symbol": "circle-open", "color": CLASSES[5], "line": {"width": 4}}
        place = {"x": [float(moved[marked])], "y": [round(float(shown[marked]), 4)], "mode": "markers"}
        traces.append({"type": "scatter", "marker": ring, "hoverinfo": "skip", "showlegend": False} | place)
    lowest = min(0.0, *map(float, before), *(map(float, after) if after is not None else ()))
    layout = plotly_layout(
        height=520,
        margin={"l": 64, "r": 12, "t": 8, "b": 56},
        legend=ABOVE,
        xaxis=_axis("human rating", 17, range=[-0.06 * top, 1.06 * top], zeroline=False),
        yaxis=_axis("cosine of the model's vectors", 17, range=[lowest - 0.04, 1.04], zeroline=False),
    )
    return {"data": traces, "layout": layout}


def _axis(title: str, size: int, **more: Any) -> Axis:
    return {"title": {"text": title, "font": {"size": size}}, "tickfont": {"size": 16}} | more


def _named(pair: Pair) -> str:
    return f"{plot_text(short(pair.first, 60))}<br>{plot_text(short(pair.second, 60))}<br>rated {pair.score:g}"


def spread_figure(before: Sequence[float], after: Sequence[float] | None) -> Figure:
    """The distribution of the held-out pairs' cosines, before and after."""
    columns = [np.asarray(cosines, np.float64) for cosines in (before, after) if cosines is not None]
    low = min(0.0, float(np.concatenate(columns).min()))
    edges = np.linspace(low, 1.0, BINS + 1)
    bars = []
    for name, cosines, colour in zip(("before", "after"), columns, (BEFORE, AFTER), strict=False):
        counts, _ = np.histogram(np.clip(cosines, low, 1.0), edges)
        channels = ", ".join(map(str, channels_of(colour)))
        bars.append(
            {
                "type": "bar",
                "x": np.round((edges[:-1] + edges[1:]) / 2, 4),
                "y": counts,
                "width": float(edges[1] - edges[0]),
                "name": f"{name} training",
                "marker": {"color": f"rgba({channels}, 0.5)", "line": {"width": 1.5, "color": colour}},
                "hovertemplate": f"%{{y}} pairs about cosine %{{x:.2f}}, {name}<extra></extra>",
            }
        )
    layout = plotly_layout(
        height=340,
        margin={"l": 56, "r": 12, "t": 8, "b": 56},
        barmode="overlay",
        bargap=0,
        legend=ABOVE,
        xaxis=_axis("cosine", 16, range=[low, 1.0]),
        yaxis=_axis("held-out pairs", 16),
    )
    return {"data": bars, "layout": layout}
