"""The time of attention for growing sentences, by loops and by matrices: a log-log plot and its sentences."""

from __future__ import annotations

from markupsafe import Markup

from demos.bert.encoder.attention_loop import Times
from demos.figures.figure.figure import Figure, Trace
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import templates

TEXT = templates(__file__)
NAMES = {"loop": "loops in Python", "matrix": "matrices (numpy)"}


def times_figure(times: Times) -> Figure:
    """Milliseconds against tokens, both on logarithmic axes, and beside each line what n² would be."""
    traces: list[Trace] = []
    for number, name in enumerate(NAMES):
        measured = getattr(times, name)
        lengths = sorted(measured)
        measured_line = {
            "type": "scatter",
            "x": lengths,
            "y": [1e3 * measured[n] for n in lengths],
            "name": NAMES[name],
            "mode": "lines+markers",
            "line": {"color": CLASSES[number], "width": 3},
            "marker": {"size": 10, "symbol": ("circle", "diamond")[number]},
            "hovertemplate": "%{x} tokens: <b>%{y:.3g} ms</b><extra></extra>",
        }
        longest = lengths[-1]
        squares = {
            "type": "scatter",
            "x": lengths,
            "y": [1e3 * measured[longest] * (n / longest) ** 2 for n in lengths],
            "name": "grows with n²",
            "showlegend": number == 0,
            "mode": "lines",
            "line": {"color": "#8a9096", "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        }
        traces += [measured_line, squares]
    ticks = sorted({*times.loop, *times.matrix})
    layout = plotly_layout(
        height=380,
        margin={"l": 70, "r": 20, "t": 10, "b": 90},
        xaxis={"type": "log", "title": {"text": "tokens n"}, "tickvals": ticks, "ticktext": [str(n) for n in ticks]},
        yaxis={"type": "log", "title": {"text": "milliseconds for one head"}, "dtick": 1},
    )
    return {"data": traces, "layout": layout}


def times_summary(times: Times) -> Markup:
    """The measured times in words."""
    longest = max(times.loop)
    grown = times.loop[longest] / times.loop[longest // 2]
    difference = scientific(times.difference)
    took = times.loop[longest], times.matrix[longest]
    return TEXT.times(times.width, longest, *took, difference, grown, max(times.matrix))
