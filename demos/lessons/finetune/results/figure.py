"""The effect of a training, drawn (Plotly): a small map of the test sentences, and a reliability diagram."""

from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.maps import Layout
from demos.figures.figure.figure import Figure
from demos.figures.maps import MAX_CLASSES, Points, map_figure
from demos.figures.palette import CLASSES, plotly_layout
from demos.figures.scores_text import one_line
from demos.training.metrics import Calibration
from demos.training.tasks.classification.data import Example

MAP_HEIGHT = 430
FEW = 20  # answers in a bin, below which its bar says little
COUNTS_AT = 1.09  # above the highest bar and its diamond
GREY = "#7b8288"  # seen on paper and in the dark


def after_map(layout: Layout, examples: Sequence[Example], labels: Sequence[str], look: str) -> Figure:
    """PCA's map of the examples' vectors, each point in its class's colour and shape.

    Classes beyond MAX_CLASSES are grey.
    """
    points = Points(
        names=tuple(map(one_line, examples)),
        classes=np.array(
            [example.label if example.label < MAX_CLASSES else -1 for example in examples], dtype=np.int64
        ),
        labels=tuple(labels[:MAX_CLASSES]),
        own=np.zeros(len(examples), dtype=bool),
        others="other classes",
    )
    figure = map_figure(layout, points, None, look)
    figure["layout"] |= {"height": MAP_HEIGHT, "dragmode": False}  # a finger over it scrolls the page
    return figure


def reliability_figure(calibration: Calibration) -> Figure:
    """The accuracy of answers (bars) against their probability (dashed line), with their counts.

    A reliability diagram as in Guo et al. 2017, figure 1.
    """
    bins = [bar for bar in calibration.bins if bar.count]
    middle = [(bar.low + bar.high) / 2 for bar in bins]
    confidence = [bar.confidence for bar in bins]
    bars = {
        "type": "bar",
        "x": middle,
        "y": [bar.accuracy for bar in bins],
        "width": [0.94 * (bar.high - bar.low) for bar in bins],
        "marker": {"color": CLASSES[0], "opacity": [0.85 if bar.count >= FEW else 0.35 for bar in bins]},
        "customdata": [[f"{bar.low:.0%} to {bar.high:.0%}", bar.confidence, bar.count] for bar in bins],
        "hovertemplate": "%{customdata[2]} predictions with probability %{customdata[0]}, mean %{customdata[1]:.1%}"
        "<br>accuracy %{y:.1%}<extra></extra>",
        "name": "accuracy",
    }
    perfect = {
        "type": "scatter",
        "x": [0, 1],
        "y": [0, 1],
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"dash": "dash", "width": 2.5, "color": GREY},
        "name": "perfect calibration",
    }
    means = {
        "type": "scatter",
        "x": confidence,
        "y": confidence,
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 12, "color": CLASSES[5], "line": {"width": 1, "color": GREY}},
        "hovertemplate": "mean probability %{x:.1%}<extra></extra>",
        "name": "mean probability",
    }
    counts = {
        "type": "scatter",
        "x": middle,
        "y": [COUNTS_AT] * len(bins),
        "mode": "text",
        "text": [f"{bar.count:,}" for bar in bins],
        "textfont": {"size": 17},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]  # `dtick` would leave the last one out
    axis = {"range": [0, 1.001], "tickformat": ".0%", "tickfont": {"size": 16}, "tickvals": ticks}
    layout = plotly_layout(
        height=470,
        margin={"l": 74, "r": 30, "t": 26, "b": 60},
        legend={"orientation": "h", "y": -0.2, "x": 0, "font": {"size": 17}},
        xaxis=axis | {"title": {"text": "predicted probability", "font": {"size": 18}}},
        yaxis=axis | {"range": [0, 1.15], "title": {"text": "correct predictions", "font": {"size": 18}}},
    )
    return {"data": [bars, perfect, means, counts], "layout": layout}
