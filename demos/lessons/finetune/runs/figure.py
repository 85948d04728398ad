"""Two runs' curves laid over one another: validation loss and score by epoch, the first solid, the second dashed."""

from collections.abc import Sequence

from demos.figures.figure.figure import Figure, Mark, Trace
from demos.figures.palette import CLASSES, plotly_layout
from demos.templates import plot_text
from demos.training.metrics import CORRELATIONS
from demos.training.results.history import Record

DASHES = ("solid", "dash")
HUES = (CLASSES[0], CLASSES[5])
SYMBOLS = ("circle", "square")


def overlay_figure(records: Sequence[Record]) -> Figure:
    """At most two runs. Thin and pale behind the validation loss: the training loss of each batch."""
    traces: list[Trace] = []
    for record, dash, hue, symbol in zip(records, DASHES, HUES, SYMBOLS, strict=False):
        name = f"run {record.number}"
        known = [(epoch, loss) for epoch, loss in record.curve if loss is not None]
        if known:
            batches = {
                "type": "scatter",
                "x": [round(epoch, 3) for epoch, _ in known],
                "y": [loss for _, loss in known],
                "mode": "lines",
                "line": {"color": hue, "width": 1.5},
                "opacity": 0.55,
                "hoverinfo": "skip",
                "name": "training loss",
                "showlegend": record is records[0],
                "legendgroup": "training",
                "legendrank": 2000,  # behind the runs
                "xaxis": "x",
                "yaxis": "y",
            }
            traces.append(batches)
        for panel, place in (("", 1), ("2", 2)):
            points = [(look[0], look[place]) for look in record.looks if look[place] is not None]
            looks = {
                "type": "scatter",
                "x": [round(epoch, 3) for epoch, _ in points],
                "y": [value for _, value in points],
                "mode": "lines+markers",
                "name": name,
                "marker": {"size": 9, "symbol": symbol},
                "showlegend": not panel,
                "hovertemplate": f"{name}, epoch %{{x:.2g}}<br>%{{y:.3f}}<extra></extra>",
                "xaxis": f"x{panel}",
                "yaxis": f"y{panel}",
                "legendgroup": name,
                "line": {"color": hue, "width": 3.5, "dash": dash},
            }
            traces.append(looks)
    metrics = list(dict.fromkeys(record.metric for record in records))
    below = {"title": {"text": "epoch", "font": {"size": 16}}, "tickfont": {"size": 16}, "rangemode": "tozero"}
    scores = {"tickfont": {"size": 16}, "zeroline": False, "anchor": "x2"}
    if not set(metrics) & set(CORRELATIONS) and all(
        0 <= (score or 0) <= 1 for record in records for *_, score in record.looks
    ):
        scores |= {"range": [0, 1.03], "tickformat": ".0%"}
    layout = plotly_layout(
        height=400,
        margin={"l": 50, "r": 20, "t": 66, "b": 52},
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom", "x": 0, "font": {"size": 18}, "itemwidth": 60},
        annotations=[
            _heading(0.22, "validation loss"),
            _heading(0.78, f"validation {'<br>and '.join(map(plot_text, metrics)) or 'score'}"),
        ],
        xaxis=below | {"domain": [0, 0.44]},
        yaxis={"tickfont": {"size": 16}, "zeroline": False, "rangemode": "tozero"},
        xaxis2=below | {"domain": [0.56, 1], "anchor": "y2"},
        yaxis2=scores,
    )
    return {"data": traces, "layout": layout}


def _heading(x: float, text: str) -> Mark:
    """A panel's name over it, around `x`."""
    place = {"x": x, "xref": "paper", "xanchor": "center", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return place | {"text": text, "showarrow": False, "font": {"size": 18}}
