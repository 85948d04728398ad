"""How long attention takes as a sentence grows, by loops and by matrices: a log-log plot, and what it says."""

from __future__ import annotations

import plotly.graph_objects as go
from markupsafe import Markup

from demos.bert.encoder.attention_loop import Times
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import templates

TEXT = templates(__file__)
NAMES = {"loop": "loops in Python", "matrix": "matrices (numpy)"}


def times_figure(times: Times) -> go.Figure:
    """Milliseconds against tokens, both on logarithmic axes, and beside each line what n² would be."""
    figure = go.Figure()
    for number, name in enumerate(NAMES):
        measured = getattr(times, name)
        lengths = sorted(measured)
        figure.add_trace(
            go.Scatter(
                x=lengths,
                y=[1e3 * measured[n] for n in lengths],
                name=NAMES[name],
                mode="lines+markers",
                line={"color": CLASSES[number], "width": 3},
                marker={"size": 10, "symbol": ("circle", "diamond")[number]},
                hovertemplate="%{x} tokens: <b>%{y:.3g} ms</b><extra></extra>",
            )
        )
        longest = lengths[-1]
        figure.add_trace(
            go.Scatter(
                x=lengths,
                y=[1e3 * measured[longest] * (n / longest) ** 2 for n in lengths],
                name="grows with n²",
                showlegend=number == 0,
                mode="lines",
                line={"color": "#8a9096", "width": 1.5, "dash": "dot"},
                hoverinfo="skip",
            )
        )
    figure.update_layout(**plotly_layout(height=380, margin={"l": 70, "r": 20, "t": 10, "b": 90}))
    ticks = sorted({*times.loop, *times.matrix})
    figure.update_xaxes(type="log", title="tokens n", tickvals=ticks, ticktext=[str(n) for n in ticks])
    figure.update_yaxes(type="log", title="milliseconds for one head", dtick=1)
    return figure


def times_summary(times: Times) -> Markup:
    """The measured times in words."""
    longest = max(times.loop)
    grown = times.loop[longest] / times.loop[longest // 2]
    difference = scientific(times.difference)
    took = times.loop[longest], times.matrix[longest]
    return TEXT.times(times.width, longest, *took, difference, grown, max(times.matrix))
