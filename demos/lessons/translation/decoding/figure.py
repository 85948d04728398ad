"""The picture of a decoder without attention: all English words, one vector, all French words."""

from __future__ import annotations

from collections.abc import Sequence

from demos.figures.figure.figure import Figure, Trace
from demos.figures.matrix import BARE
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.lessons.translation.figure import ROW
from demos.templates import plot_text

VECTOR = 0.55  # its height between the words


def one_vector_figure(
    source: Sequence[str], written: Sequence[str], probabilities: Sequence[float], step: int, width: int
) -> Figure:
    """Lines from the English words to one vector of `width` numbers, and from there to a bar for each written word.

    A bar is the probability of the word when it was written; `step`, from 0, stands out.
    """
    down, up = ([(at + 0.5) / len(words) for at in range(len(words))] for words in (source, written))
    lines = [(0.0, VECTOR, place, 0.5, False) for place in down]
    lines += [(VECTOR, 1.0, 0.5, place, at == step) for at, place in enumerate(up)]
    silent = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
    traces: list[Trace] = [
        silent
        | {"x": [x0, x1], "y": [y0, y1], "mode": "lines"}
        | {"line": {"color": CLASSES[0] if chosen else SPECIAL, "width": 4 if chosen else 1}}
        for x0, x1, y0, y1, chosen in sorted(lines, key=lambda line: line[-1])
    ]
    square = {"size": 26, "symbol": "square", "color": CLASSES[1]}
    traces.append(silent | {"x": [VECTOR], "y": [0.5], "mode": "markers", "marker": square})
    bars = {
        "type": "bar",
        "y": up,
        "x": [round(share, 4) for share in probabilities],
        "orientation": "h",
        "width": 0.66 / len(written),
        "xaxis": "x2",
        "yaxis": "y2",
        "opacity": 0.8,
        "marker": {"color": [CLASSES[0] if at == step else SPECIAL for at in range(len(written))]},
        "customdata": [plot_text(word) for word in written],
        "hovertemplate": "<b>%{customdata}</b><br>probability %{x:.4f}<extra></extra>",
    }
    traces.append(bars)
    left, right = (20 + max(map(len, words)) * 9 for words in (source, written))
    height = max(330, ROW * max(len(source), len(written)) + 80)
    title = {"text": f"one vector:<br>{width} components"}
    layout = plotly_layout(
        height=height,
        margin={"l": left, "r": right, "t": 10, "b": 64},
        showlegend=False,
        xaxis=BARE | {"domain": [0, 0.66], "range": [0, 1], "showticklabels": False, "title": title},
        yaxis=BARE | {"range": [1, 0], "tickvals": down, "ticktext": [plot_text(word) for word in source]},
        xaxis2={"domain": [0.66, 1], "range": [0, 1], "title": {"text": "probability"}}
        | {"tickformat": ".0%", "tickvals": [0, 1], "showgrid": False},
        yaxis2=BARE
        | {"range": [1, 0], "anchor": "x2", "side": "right", "ticklabelstandoff": 4}
        | {"tickvals": up, "ticktext": [plot_text(word) for word in written]},
    )
    return {"data": traces, "layout": layout}
