"""Each test example's predicted score against its score in the data (Plotly)."""

import numpy as np

from demos.figures.cosine_heatmap import jittered
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SANS
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.figures.short_text import short
from demos.templates import plot_text, signed
from demos.training.tasks.similarity.task import Scored, SimilarityResult

NAMED_PAIRS = 400  # with more, their sentences on hover would be half a megabyte
FEW = 100  # pairs that have room for large points
BEYOND = 0.05  # room beside the scale, as a share of it


def scatter_figure(result: SimilarityResult) -> Figure:
    """Prediction against score: a perfect model's points lie on the dashed line.

    Points of equal scores are moved sideways by a little, from one seed, so as not to hide each other.
    """
    predicted = np.array([pair.predicted for pair in result.answers], dtype=np.float64)
    lowest, highest = result.points[0], result.points[-1]
    beyond = BEYOND * (highest - lowest)
    low, high = min([lowest, *predicted]) - beyond, max([highest, *predicted]) + beyond
    mean = result.trained_range[1]
    perfect = {
        "type": "scatter",
        "x": [lowest, highest],
        "y": [lowest, highest],
        "mode": "lines",
        "name": "prediction = gold score",
        "hoverinfo": "skip",
        "line": {"color": SPECIAL, "width": 2, "dash": "dash"},
    }
    guess = {
        "type": "scatter",
        "x": [lowest, highest],
        "y": [mean, mean],
        "mode": "lines",
        "name": f"always the mean score ({mean:.2f})",
        "hoverinfo": "skip",
        "line": {"color": CLASSES[5], "width": 2, "dash": "dot"},
    }
    named = len(result.answers) <= NAMED_PAIRS
    pairs = {
        "type": "scatter",
        "x": np.round(jittered(np.array([pair.gold for pair in result.answers])), 3),
        "y": np.round(predicted, 3),
        "mode": "markers",
        "name": f"test {result.noun}",
        "marker": {"color": CLASSES[0], "size": 11 if len(result.answers) <= FEW else 7, "opacity": 0.9},
        "customdata": [_hover_text(pair, named) for pair in result.answers],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    ticks = {"tickvals": list(result.points), "zeroline": False}
    layout = plotly_layout(
        height=400,
        font={"family": SANS, "size": 16},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 16}},
        margin={"l": 60, "r": 12, "t": 12, "b": 60},
        xaxis=ticks | {"title": {"text": "gold score"}, "range": [lowest - beyond, highest + beyond]},
        yaxis=ticks | {"title": {"text": "predicted score"}, "range": [low, high]},
    )
    return {"data": [perfect, guess, pairs], "layout": layout}


def _hover_text(pair: Scored, named: bool) -> str:
    scores = f"gold {pair.gold:g}, predicted {signed(pair.predicted, '.2f')}"
    texts = [plot_text(short(text, 70)) for text in (pair.first, pair.second) if text] if named else []
    return "<br>".join([*texts, scores])
