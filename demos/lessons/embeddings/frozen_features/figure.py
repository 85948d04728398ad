"""Frozen features, drawn: accuracies as bars with their intervals, and every pooling x layer (Plotly)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.frozen_features import CONCAT_ALL
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, POOLINGS, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.figures.axes import axis, whiskers
from demos.figures.cosine_heatmap import POOLING_NAMES, choice_name
from demos.figures.figure.figure import Figure
from demos.figures.palette import CLASSES, colour_scale, inked, plotly_layout
from demos.templates import plot_text

ROW = 84  # pixels a bar takes with its name above it
HUES = {
    "guess": "#8a9096",
    "words": CLASSES[1],
    "frozen": CLASSES[0],
    "tuned": CLASSES[2],
    "lstm": CLASSES[3],
    "published": "#8a9096",
}
COLUMNS = {SUM_LAST_FOUR: "sum 4", SUM_ALL: "sum all", CONCAT_LAST_FOUR: "join 4", CONCAT_ALL: "join all"}
FRAME = CLASSES[5]
SCALE = colour_scale("magnitude")


@dataclass(frozen=True)
class Bar:
    """One accuracy to draw: `kind` is one of HUES; a published figure has no interval."""

    name: str
    kind: str
    accuracy: float
    interval: tuple[float, float] | None = None


def feature_name(choice: Choice, deepest: int) -> str:
    """ "mean, last hidden layer (6)", as the page speaks of a vector."""
    if choice.layer == CONCAT_ALL:
        return f"{POOLING_NAMES[choice.pooling]}, all layers concatenated"
    return choice_name(choice, deepest)


def bars_figure(bars: Sequence[Bar]) -> Figure:
    """Each accuracy from 0 to 1 as a bar under its name, its number behind its 95% interval."""
    traces = []
    ends = [bar.interval or (bar.accuracy, bar.accuracy) for bar in bars]
    for published in (False, True):  # a published figure has no interval, and is hatched
        rows = [row for row, bar in enumerate(bars) if (bar.kind == "published") == published]
        if not rows:
            continue
        low = [bars[row].accuracy - ends[row][0] for row in rows]
        high = [ends[row][1] - bars[row].accuracy for row in rows]
        intervals = ["" if published else "<br>95% interval {:.3f} to {:.3f}".format(*ends[row]) for row in rows]
        traces.append(
            {
                "type": "bar",
                "x": [round(bars[row].accuracy, 4) for row in rows],
                "y": rows,
                "orientation": "h",
                "width": 0.42,
                "marker": {
                    "color": [HUES[bars[row].kind] for row in rows],
                    "pattern": {"shape": "/" if published else "", "fillmode": "replace"},
                },
                "error_x": None if published else whiskers(low, high, color="#545d63", thickness=3, width=7),
                "customdata": [
                    [plot_text(bars[row].name), interval] for row, interval in zip(rows, intervals, strict=True)
                ],
                "hovertemplate": "%{customdata[0]}<br>accuracy %{x:.3f}%{customdata[1]}<extra></extra>",
            }
        )
    labels = []
    for row, bar in enumerate(bars):
        shared = {"y": row, "xanchor": "left", "showarrow": False}
        labels.append(shared | {"x": 0, "yshift": 34, "text": plot_text(bar.name), "font": {"size": 20}})
        text = f"<b>{bar.accuracy:.3f}</b>"
        labels.append(shared | {"x": ends[row][1], "xshift": 10, "text": text, "font": {"size": 26}})
    across = axis("accuracy on held-out sentences", tickvals=[0, 0.25, 0.5, 0.75, 1], zeroline=True)
    names = {"tickvals": list(range(len(bars))), "ticktext": [plot_text(bar.name) for bar in bars]}  # for its table
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    layout = plotly_layout(
        height=ROW * len(bars) + 66,
        margin={"l": 12, "r": 12, "t": 14, "b": 44},
        showlegend=False,
        barmode="overlay",
        xaxis=across | {"range": [0, 1.12]},
        yaxis=names | hidden | {"range": [len(bars) - 0.55, -0.75]},
        annotations=labels,
    )
    return {"data": traces, "layout": layout}


def grid_figure(scores: Mapping[Choice, float], best: Choice, deepest: int) -> Figure:
    """The cross-validated accuracy of each choice fitted so far, poolings down, layers across; `best` is framed."""
    rows = [pooling for pooling in (*POOLINGS, POOLER) if any(choice.pooling == pooling for choice in scores)]
    layers: list[int | str] = [*range(deepest + 1), *COLUMNS]
    columns = [layer for layer in layers if any(choice.layer == layer for choice in scores)]
    values = np.array([[scores.get(Choice(pooling, layer), np.nan) for layer in columns] for pooling in rows])
    # From the lowest tenth up: the embedding of [CLS], the same for every sentence, would take all of the scale.
    low, high = float(np.nanquantile(values, 0.1)), float(np.nanmax(values))
    span = max(high - low, 0.02)
    heatmap = {
        "type": "heatmap",
        "z": np.round(values, 4),
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "zmin": low - 0.1 * span,
        "zmax": low + 1.1 * span,
        "colorscale": SCALE,
        "text": [[_cell(value, low, span) for value in row] for row in values],
        "texttemplate": "%{text}",
        "textfont": {"size": 20 if len(columns) <= 12 else 16},
        "customdata": [[plot_text(feature_name(Choice(p, layer), deepest)) for layer in columns] for p in rows],
        "hovertemplate": "%{customdata}<br>cross-validated accuracy %{z:.3f}<extra></extra>",
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    frames = []
    if best.layer in columns and best.pooling in rows:
        x, y = columns.index(best.layer), rows.index(best.pooling)
        box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        frames.append({"type": "rect", "line": {"color": FRAME, "width": 4}} | box)
    names = [COLUMNS.get(layer, str(layer)) if isinstance(layer, str) else str(layer) for layer in columns]
    both = {"showgrid": False, "zeroline": False, "ticks": "", "tickfont": {"size": 17}}
    title = {"text": "layer", "font": {"size": 16}, "standoff": 2}
    across = {"tickvals": list(range(len(columns))), "ticktext": names, "side": "top", "title": title}
    poolings = [POOLING_NAMES[pooling] for pooling in rows]
    down = {"tickvals": list(range(len(rows))), "ticktext": poolings, "autorange": "reversed"}
    layout = plotly_layout(
        height=62 * len(rows) + 96,
        margin={"l": 124, "r": 8, "t": 76, "b": 8},
        showlegend=False,
        xaxis=both | across | {"automargin": True},
        yaxis=both | down,
        shapes=frames,
    )
    return {"data": [heatmap], "layout": layout}


def _cell(value: float, low: float, span: float) -> str:
    """The score without its leading zero, in the ink that can be read on its colour."""
    if np.isnan(value):
        return ""
    return inked(f"{value:.3f}".removeprefix("0"), SCALE, (value - low + 0.1 * span) / (1.2 * span))
