"""Many corruptions drawn: the shares of masked, replaced and kept closing in, and how often each token was chosen."""

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.corruption import Shares
from demos.bert.pretraining.corruption_counts import Draws
from demos.figures.axes import level_line
from demos.figures.figure.figure import Figure, Trace
from demos.figures.palette import plotly_layout, word_colour
from demos.lessons.pretraining.figure_kinds import KINDS
from demos.templates import plot_text

POINTS = 120  # of each line, evenly spread over a logarithmic axis
SHOWN = 128  # tokens
NAMED = 80  # so many have room for their names
DEVIATIONS = 1.96  # at each point 95 of 100 experiments lie within
GREY = "#8a9096"


def shares_figure(draws: Draws, target: Shares) -> Figure:
    """Each kind's share among all tokens chosen so far, draw by draw, beside the target shares."""
    total = len(draws.kinds)
    at = np.unique(np.geomspace(1, total, POINTS).round().astype(int))
    running, chosen = draws.running[at - 1], draws.counts.sum(axis=1)[at - 1]
    targets = list(dict.fromkeys(round(share, 6) for share in target.kinds))
    traces: list[Trace] = []
    for share in targets:
        reach = DEVIATIONS * np.sqrt(share * (1 - share) / chosen)
        band = {
            "type": "scatter",
            "x": np.concatenate([at, at[::-1]]),
            "y": np.concatenate([np.minimum(share + reach, 1), np.maximum(share - reach, 0)[::-1]]),
            "fill": "toself",
            "fillcolor": "rgba(138,144,150,0.2)",
            "line": {"width": 0},
            "mode": "lines",
            "hoverinfo": "skip",
            "showlegend": False,
        }
        traces.append(band)
    for column, (name, mark, colour, symbol) in enumerate(KINDS):
        line = {
            "type": "scatter",
            "x": at,
            "y": running[:, column],
            "name": f"{mark} {name}",
            "mode": "lines+markers",
            "line": {"color": colour, "width": 2.5},
            "marker": {"symbol": symbol, "size": 9, "maxdisplayed": 9},
            "hovertemplate": f"after %{{x}} draws: <b>%{{y:.1%}}</b> {name}<extra></extra>",
        }
        traces.append(line)
    ticks = [1, 10, 100, 1_000]
    marks = {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    layout = plotly_layout(
        height=340,
        margin={"l": 62, "r": 16, "t": 34, "b": 48},
        legend={"orientation": "h", "y": 1.13},
        shapes=[level_line(share, dash="dash", width=1.5, color=GREY) for share in targets],
        xaxis={"type": "log", "title": {"text": "draws"}} | marks,
        yaxis={"tickformat": ".0%", "range": [-0.02, 1.02]},
    )
    return {"data": traces, "layout": layout}


def places_figure(draws: Draws, encoding: Encoding) -> Figure:
    """The share of the draws in which each token was chosen, in its word's hue; the dashed line is their mean."""
    shown = [place for place in np.flatnonzero(draws.free).tolist() if place < SHOWN]
    shares = draws.chosen / len(draws.kinds)
    written = [plot_text(encoding.tokens[place]) for place in shown]
    names = [f"{place} {token}" for place, token in zip(shown, written, strict=True)]
    bars = {
        "type": "bar",
        "x": names,
        "y": shares[shown],
        "marker": {"color": [word_colour(encoding.word_index[place]) for place in shown]},
        "hovertemplate": "<b>%{x}</b><br>chosen in %{y:.1%} of the draws<extra></extra>",
    }
    mean = float(shares[draws.free].mean())
    labels = written if len(names) <= NAMED else [""] * len(names)
    layout = plotly_layout(
        height=340,
        margin={"l": 62, "r": 10, "t": 34, "b": 20},
        bargap=0.15,
        shapes=[level_line(mean, dash="dash", width=2, color=GREY)],
        xaxis={"tickvals": names, "ticktext": labels, "tickangle": -90, "tickfont": {"size": 16}},
        yaxis={"tickformat": ".0%", "rangemode": "tozero"},
    )
    return {"data": [bars], "layout": layout}
