"""A siamese training drawn: each held-out pair's cosine against its rating, and how all cosines lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from demos.bert.embeddings.agreement import Pair
from demos.figures.cosine_heatmap import jittered, short
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.templates import plot_text

BEFORE, AFTER = SPECIAL, CLASSES[0]
NAMED_PAIRS = 250  # with more the words of each would weigh more than the picture
BINS = 20


def scatter_figure(
    pairs: Sequence[Pair], top: float, before: Sequence[float], after: Sequence[float] | None, marked: int
) -> go.Figure:
    """Cosine against rating of every held-out pair, grey before training, blue after it; the pair `marked` has a ring.

    Points are moved sideways by a little, from one seed, so as not to hide each other. The dashed line is what the
    training aims at: cosine = rating / top.
    """
    scores = np.array([pair.score for pair in pairs])
    moved = jittered(scores)
    few = len(pairs) <= NAMED_PAIRS
    named = [_named(pair) if few else f"rated {pair.score:g}" for pair in pairs]
    figure = go.Figure()
    figure.add_scatter(
        x=[0, top], y=[0, 1], mode="lines", line={"color": SPECIAL, "width": 2, "dash": "dash"},
        name="target of training", hoverinfo="skip",
    )  # fmt: skip
    size = 10 if few else 6
    for name, cosines, colour, symbol in (
        ("before", before, BEFORE, "circle-open"),
        ("after", after, AFTER, "circle"),
    ):
        if cosines is not None:
            figure.add_scatter(
                x=np.round(moved, 3),
                y=np.round(np.asarray(cosines, np.float64), 4),
                mode="markers",
                name=f"{name} training",
                marker={"size": size, "color": colour, "symbol": symbol, "line": {"width": 2}},
                customdata=named,
                hovertemplate=f"%{{customdata}}<br>cosine {name} %{{y:.3f}}<extra></extra>",
            )
    if 0 <= marked < len(pairs):
        shown = before if after is None else after
        figure.add_scatter(
            x=[round(float(moved[marked]), 3)],
            y=[round(float(shown[marked]), 4)],
            mode="markers",
            marker={"size": 20, "symbol": "circle-open", "color": CLASSES[5], "line": {"width": 4}},
            hoverinfo="skip",
            showlegend=False,
        )
    lowest = min(0.0, *map(float, before), *(map(float, after) if after is not None else ()))
    figure.update_layout(**plotly_layout(height=520, margin={"l": 64, "r": 12, "t": 8, "b": 56}))
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}})
    figure.update_xaxes(
        title={"text": "human rating", "font": {"size": 17}},
        tickfont={"size": 16}, range=[-0.06 * top, 1.06 * top], zeroline=False,
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": "cosine of the model's vectors", "font": {"size": 17}},
        tickfont={"size": 16}, range=[lowest - 0.04, 1.04], zeroline=False,
    )  # fmt: skip
    return figure


def _named(pair: Pair) -> str:
    return f"{plot_text(short(pair.first, 60))}<br>{plot_text(short(pair.second, 60))}<br>rated {pair.score:g}"


def spread_figure(before: Sequence[float], after: Sequence[float] | None) -> go.Figure:
    """How many held-out pairs have which cosine, before and after."""
    columns = [np.asarray(cosines, np.float64) for cosines in (before, after) if cosines is not None]
    low = min(0.0, float(np.concatenate(columns).min()))
    edges = np.linspace(low, 1.0, BINS + 1)
    figure = go.Figure()
    for name, cosines, colour in zip(("before", "after"), columns, (BEFORE, AFTER), strict=False):
        counts, _ = np.histogram(np.clip(cosines, low, 1.0), edges)
        figure.add_bar(
            x=np.round((edges[:-1] + edges[1:]) / 2, 4),
            y=counts,
            width=float(edges[1] - edges[0]),
            name=f"{name} training",
            marker={"color": f"rgba{(*hex_to_rgb(colour), 0.5)}", "line": {"width": 1.5, "color": colour}},
            hovertemplate=f"%{{y}} pairs about cosine %{{x:.2f}}, {name}<extra></extra>",
        )
    figure.update_layout(
        **plotly_layout(height=340, margin={"l": 56, "r": 12, "t": 8, "b": 56}, barmode="overlay", bargap=0)
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}})
    figure.update_xaxes(title={"text": "cosine", "font": {"size": 16}}, tickfont={"size": 16}, range=[low, 1.0])
    figure.update_yaxes(title={"text": "held-out pairs", "font": {"size": 16}}, tickfont={"size": 16})
    return figure
