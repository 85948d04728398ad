"""How long attention takes as a sentence grows, by loops and by matrices: a log-log plot, and what it says."""

from __future__ import annotations

import plotly.graph_objects as go

from demos.bert.encoder.loops import Times
from demos.figures.numbers import scientific
from demos.figures.palette import CLASSES, plotly_layout

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
    figure.update_yaxes(type="log", title="milliseconds, one head", dtick=1)
    return figure


def times_told(times: Times) -> str:
    """The measured times in words (HTML)."""
    longest, last = max(times.loop), max(times.matrix)
    grown = times.loop[longest] / times.loop[longest // 2]
    return (
        f"<p><b>Measured on this machine just now, one head of {times.width} numbers, on random vectors.</b> "
        f"{longest} tokens take {1e3 * times.loop[longest]:.3g} ms by loops and "
        f"{1e3 * times.matrix[longest]:.2g} ms by matrices, "
        f"{times.loop[longest] / times.matrix[longest]:,.0f} times less; the results differ by "
        f"{scientific(times.difference)} at most. Twice the tokens took the loops {grown:.1f} times as long, since "
        f"each of the n queries meets each of the n keys: n² × {times.width} products, {last**2 * times.width:,} for "
        f"{last} tokens. Matrices do the same work, in the processor’s own loops and many numbers at once; on short "
        "sentences their fixed cost hides it.</p>"
    )
