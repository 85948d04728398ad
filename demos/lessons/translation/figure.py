"""The lesson's pictures: attention weights between two languages, and the share of correct sentences by length."""

from collections.abc import Mapping, Sequence

import numpy as np

from demos.figures.figure.figure import Figure, Mark, Trace
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, colour_scale, plotly_layout
from demos.templates import plot_text

ROW = 30  # pixels
BAR = {
    "orientation": "h",
    "thickness": 12,
    "len": 1,
    "outlinewidth": 0,
    "nticks": 6,
    "y": 0,
    "yanchor": "top",
    "ypad": 8,
}
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # a legend over its figure
LINK = "#d55e00"  # rings: seen on both ends of the scale
DASHES, SYMBOLS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
LENGTHS = ((1, 6), (7, 9), (10, 12), (13, 30))  # English words, the full stop counted


def alignment_figure(
    source: Sequence[str],
    written: Sequence[str],
    weights: np.ndarray,
    links: Sequence[Sequence[int]] = (),
    step: int | None = None,
) -> Figure:
    """Weights [m, n] of each written word (down) on each English word (across), as in Bahdanau et al. 2015, figure 3.

    A ring marks where the grammar links two words; `step` is framed.
    """
    rows = [f"{place} {plot_text(word)}" for place, word in enumerate(written, start=1)]
    columns = [f"{place} {plot_text(word)}" for place, word in enumerate(source, start=1)]
    traces: list[Trace] = [
        {
            "type": "heatmap",
            "x": columns,
            "y": rows,
            "z": np.round(weights.astype(np.float64), 4),
            "zmin": 0,
            "zmax": 1,
            "xgap": 1,
            "ygap": 1,
            "colorscale": colour_scale("magnitude"),
            "colorbar": BAR,
            "hovertemplate": "<b>%{y}</b> attends to <b>%{x}</b><br>weight %{z:.4f}<extra></extra>",
        }
    ]
    linked = [(rows[at], columns[place]) for at, places in enumerate(links[: len(rows)]) for place in places]
    if linked:
        ring = {"symbol": "circle-open", "size": 13, "color": LINK, "line": {"width": 3}}
        down, across = zip(*linked, strict=True)
        drawn = {"mode": "markers", "marker": ring, "hoverinfo": "skip", "showlegend": False}
        traces.append({"type": "scatter", "x": across, "y": down} | drawn)
    top = 34 + max(map(len, source)) * 9
    left = 30 + max(map(len, written)) * 10
    sides = {"tickvals": columns, "ticktext": [plot_text(word) for word in source], "side": "top", "tickangle": -90}
    down_axis = {"tickvals": rows, "ticktext": [plot_text(word) for word in written], "autorange": "reversed"}
    layout = plotly_layout(
        height=max(330, ROW * len(rows) + top + 60),
        margin={"l": left, "r": 10, "t": top, "b": 50},
        showlegend=False,
        xaxis=BARE | sides | {"ticklabelstandoff": 4},
        yaxis=BARE | down_axis | {"ticklabelstandoff": 4},
        shapes=[] if step is None else [framed_row(step, len(columns), CLASSES[0])],
    )
    return {"data": traces, "layout": layout}


def framed_row(row: int, width: int, colour: str) -> Mark:
    """The frame around one row, from 0, of a heatmap of `width` columns."""
    corners = {"x0": -0.5, "x1": width - 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"color": colour, "width": 3}} | corners


def curves_figure(runs: Sequence[tuple[str, Sequence[tuple[int, float]]]]) -> Figure:
    """The share of correct held-out sentences by training step, a line for each run: (name, its (step, share))."""
    traces = [
        {
            "type": "scatter",
            "x": [step for step, _ in looks],
            "y": [round(share, 4) for _, share in looks],
            "mode": "lines+markers",
            "name": name,
            "line": {"color": colour, "dash": dash, "width": 3},
            "marker": {"size": 8, "symbol": symbol},
            "hovertemplate": f"%{{x}} steps: %{{y:.1%}}<extra>{plot_text(name)}</extra>",
        }
        for (name, looks), colour, dash, symbol in zip(runs, CLASSES, DASHES, SYMBOLS, strict=False)
    ]
    layout = plotly_layout(
        height=320,
        margin={"l": 70, "r": 20, "t": 40, "b": 50},
        legend=ABOVE,
        showlegend=True,
        xaxis={"title": {"text": "steps of training"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "all words correct"}, "range": [0, 1.03], "tickformat": ".0%"},
    )
    return {"data": traces, "layout": layout}


def shares_by_length(lengths: Sequence[int], right: Sequence[bool]) -> list[tuple[str, int, float]]:
    """(the lengths, how many sentences, the share that is right) for each of LENGTHS that occurs."""
    shares = []
    for low, high in LENGTHS:
        of_length = [is_right for length, is_right in zip(lengths, right, strict=True) if low <= length <= high]
        if of_length:
            name = f"{low} to {high}" if high < LENGTHS[-1][1] else f"{low} or more"
            shares.append((name, len(of_length), sum(of_length) / len(of_length)))
    return shares


def length_figure(lengths: Sequence[int], right: Mapping[str, Sequence[bool]]) -> Figure:
    """A group of bars for each sentence length, a bar for each translator."""
    traces = []
    for (name, of_name), colour, pattern in zip(right.items(), CLASSES, ("", "/", "."), strict=False):
        shares = shares_by_length(lengths, of_name)
        bars = {
            "type": "bar",
            "y": [length for length, _, _ in shares],
            "x": [round(share, 4) for _, _, share in shares],
            "orientation": "h",
            "customdata": [count for _, count, _ in shares],
            "name": name,
            "marker": {"color": colour, "pattern": {"shape": pattern}},
            "text": [f"{share:.0%}" for _, _, share in shares],
            "textposition": "outside",
            "textfont": {"size": SMALL},
            "constraintext": "none",
            "cliponaxis": False,
            "hovertemplate": "%{y} words: %{x:.1%} of %{customdata} sentences<extra></extra>",
        }
        traces.append(bars)
    across = {"range": [0, 1.08], "tickformat": ".0%", "tickvals": [0, 0.5, 1]}
    layout = plotly_layout(
        height=360,
        margin={"l": 110, "r": 50, "t": 40, "b": 50},
        barmode="group",
        legend=ABOVE,
        yaxis={"title": {"text": "English words"}, "autorange": "reversed"},
        xaxis=across | {"title": {"text": "all words correct"}},
    )
    return {"data": traces, "layout": layout}
