"""How long a GRU and a Transformer take as sentences grow: lines, and what they say."""

from __future__ import annotations

import plotly.graph_objects as go
from markupsafe import Markup

from demos.bert.translation.timing import SENTENCES, Measured
from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import templates

TEXT = templates(__file__)
MODES = {"trained": ("forward pass", "solid"), "written": ("writing", "dash")}


def times_figure(measured: Measured) -> go.Figure:
    """Milliseconds against words, both on logarithmic axes; a colour for each translator, dashed where it writes."""
    figure = go.Figure()
    for number, (name, times) in enumerate(measured.times.items()):
        for mode, (title, dash) in MODES.items():
            of_mode = getattr(times, mode)
            figure.add_scatter(
                x=list(of_mode), y=[1e3 * seconds for seconds in of_mode.values()], name=f"{name}, {title}",
                mode="lines+markers", line={"color": CLASSES[number], "width": 3, "dash": dash},
                marker={"size": 10, "symbol": ("circle", "diamond")[number]},
                hovertemplate="%{x} words: <b>%{y:.3g} ms</b><extra>" + f"{name}, {title}" + "</extra>",
            )  # fmt: skip
    figure.update_layout(**plotly_layout(height=360, margin={"l": 70, "r": 20, "t": 20, "b": 60}))
    figure.update_layout(legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0}, showlegend=True)
    ticks = list(next(iter(measured.times.values())).trained)
    figure.update_xaxes(
        type="log", title="words per sentence (read, and written)", tickvals=ticks, ticktext=[str(n) for n in ticks]
    )
    figure.update_yaxes(type="log", title=f"milliseconds for {SENTENCES} sentences", dtick=1)
    return figure


def times_summary(measured: Measured) -> Markup:
    """The measured times in words."""
    rows = [
        (f"{name}, {title}", list(getattr(times, mode).values()))
        for name, times in measured.times.items() for mode, (title, _) in MODES.items()
    ]  # fmt: skip
    lengths = list(next(iter(measured.times.values())).trained)
    return TEXT.times(rows, lengths, SENTENCES, measured.threads)
