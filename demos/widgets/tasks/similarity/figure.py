"""Each test pair's predicted score against its score in the data (Plotly)."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from demos.figures.cosine_heatmap import jittered
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.figures.short_text import short
from demos.templates import plot_text
from demos.training.tasks.similarity.data import HIGHEST, LOWEST
from demos.training.tasks.similarity.task import Scored, SimilarityResult

NAMED_PAIRS = 400  # with more, their sentences on hover would be half a megabyte
FEW = 100  # pairs that have room for large points
BEYOND = 0.25  # room beside the scale, in points


def scatter_figure(result: SimilarityResult) -> go.Figure:
    """Prediction against score: a perfect model's pairs lie on the dashed line.

    Points of equal scores are moved sideways by a little, from one seed, so as not to hide each other.
    """
    predicted = np.array([pair.predicted for pair in result.answers], dtype=np.float64)
    low, high = min([LOWEST, *predicted]) - BEYOND, max([HIGHEST, *predicted]) + BEYOND
    mean = result.trained_range[1]
    drawn = go.Figure()
    drawn.add_scatter(
        x=[LOWEST, HIGHEST], y=[LOWEST, HIGHEST], mode="lines", name="prediction = gold score", hoverinfo="skip",
        line={"color": SPECIAL, "width": 2, "dash": "dash"},
    )  # fmt: skip
    drawn.add_scatter(
        x=[LOWEST, HIGHEST], y=[mean, mean], mode="lines", name=f"always the mean score ({mean:.2f})",
        hoverinfo="skip", line={"color": CLASSES[5], "width": 2, "dash": "dot"},
    )  # fmt: skip
    named = len(result.answers) <= NAMED_PAIRS
    drawn.add_scatter(
        x=np.round(jittered(np.array([pair.gold for pair in result.answers])), 3),
        y=np.round(predicted, 3),
        mode="markers",
        name="test pair",
        marker={"color": CLASSES[0], "size": 11 if len(result.answers) <= FEW else 7, "opacity": 0.9},
        customdata=[_hover_text(pair, named) for pair in result.answers],
        hovertemplate="%{customdata}<extra></extra>",
    )
    drawn.update_layout(
        **plotly_layout(
            height=400,
            font={**plotly_layout()["font"], "size": 16},
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}},
            margin={"l": 60, "r": 12, "t": 12, "b": 60},
        )
    )
    ticks = {"tickvals": list(range(int(LOWEST), int(HIGHEST) + 1)), "zeroline": False}
    drawn.update_xaxes(title="gold score", range=[LOWEST - BEYOND, HIGHEST + BEYOND], **ticks)
    drawn.update_yaxes(title="predicted score", range=[low, high], **ticks)
    return drawn


def _hover_text(pair: Scored, named: bool) -> str:
    scores = f"gold {pair.gold:g}, predicted {pair.predicted:.2f}"
    texts = [plot_text(short(text, 70)) for text in (pair.first, pair.second)] if named else []
    return "<br>".join([*texts, scores])
