"""Accuracy by the number of training examples: trained weights, random weights, words, an LSTM, guessing (Plotly)."""

import math
from statistics import fmean

from demos.figures.axes import axis
from demos.figures.figure.figure import Figure, Trace
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.training.learning_curve import LSTM, PRETRAINED, SCRATCH, WORDS, Measured

NAMES = {
    PRETRAINED: "the pre-trained model",
    WORDS: "words only",
    LSTM: "an LSTM trained from scratch",
    SCRATCH: "from random weights",
}
LOOKS = {  # hue, dash, symbol
    PRETRAINED: (CLASSES[0], "solid", "circle"),
    WORDS: (CLASSES[1], "dash", "square"),
    LSTM: (CLASSES[2], "longdash", "triangle-up"),
    SCRATCH: (CLASSES[5], "dot", "diamond"),
}


def scores_of(measured: Measured, series: str) -> dict[int, list[float]]:
    """The seeds' scores by the number of training examples, ascending."""
    scores: dict[int, list[float]] = {}
    for point in measured.points:
        if point.series == series:
            scores.setdefault(point.examples, []).append(point.score)
    return dict(sorted(scores.items()))


def accuracy_figure(measured: Measured) -> Figure:
    """Each line is the seeds' mean, its band from the worst seed to the best; examples on a logarithmic axis."""
    traces: list[Trace] = []
    sizes = measured.sizes
    low, high = sizes[0] / 1.15, sizes[-1] * 1.15
    for series, (hue, dash, symbol) in LOOKS.items():
        scores = scores_of(measured, series)
        if not scores:
            continue
        counts = list(scores)
        if any(len(values) > 1 for values in scores.values()):
            band = {
                "type": "scatter",
                "x": [*counts, *reversed(counts)],
                "y": [*(max(scores[count]) for count in counts), *(min(scores[count]) for count in reversed(counts))],
                "mode": "lines",
                "fill": "toself",
                "fillcolor": f"rgba{(*bytes.fromhex(hue[1:]), 0.16)}",
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            }
            traces.append(band)
        line = {
            "type": "scatter",
            "x": counts,
            "y": [round(fmean(values), 4) for values in scores.values()],
            "mode": "lines+markers",
            "name": NAMES[series],
            "line": {"color": hue, "width": 4, "dash": dash},
            "marker": {"size": 11, "symbol": symbol, "color": hue},
            "customdata": [[len(values), min(values), max(values)] for values in scores.values()],
            "hovertemplate": f"{NAMES[series]}<br>%{{x:,}} examples: %{{y:.1%}}<br>%{{customdata[0]}} seeds, "
            "%{customdata[1]:.1%} to %{customdata[2]:.1%}<extra></extra>",
        }
        traces.append(line)
    guess = {
        "type": "scatter",
        "x": [low, high],
        "y": [measured.majority] * 2,
        "mode": "lines",
        "name": "always the most frequent class",
        "line": {"color": SPECIAL, "width": 2.5, "dash": "dashdot"},
        "hovertemplate": "%{y:.1%}<extra></extra>",
    }
    title = {"text": "training examples", "font": {"size": 17}, "standoff": 4}
    marks = {"tickvals": sizes, "ticktext": [f"{size:,}<br>{size / sizes[-1]:.0%}" for size in sizes]}
    layout = plotly_layout(
        height=470,
        margin={"l": 66, "r": 14, "t": 12, "b": 64},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 17}, "itemwidth": 50},
        xaxis=axis("", 17, type="log", range=[math.log10(low), math.log10(high)]) | marks | {"title": title},
        yaxis=axis(f"accuracy on {measured.test:,} test examples", 17, tickformat=".0%", range=[0, 1.03]),
    )
    return {"data": [*traces, guess], "layout": layout}
