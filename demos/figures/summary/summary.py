"""One sentence on what a Plotly figure shows, computed from its own numbers: for those who can't see it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from demos.templates import templates

TEXT = templates(__file__, "text.txt")


def with_summary(value: Any) -> Any:
    """What a handler draws; a figure of Plotly carries its sentence as `layout.meta`, where it has none of its own."""
    if isinstance(value, go.Figure) and value.layout.meta is None:
        value.update_layout(meta=summary(value))
    return value


def summary(figure: go.Figure) -> str:
    """The sentence, of the kind of trace that the figure begins with; lines and marks that say nothing do not count."""
    traces = [trace for trace in figure.data if trace.hoverinfo != "skip" and _count(trace)]
    if not traces:
        return str(TEXT.empty())
    kind = traces[0].type
    alike = [trace for trace in traces if trace.type == kind]
    if kind == "heatmap":
        return _matrix(figure, alike[0])
    if kind == "treemap":
        return _areas(alike[0])
    if kind == "bar":
        return _bars(figure, alike)
    if kind == "scatter" and "lines" in (alike[0].mode or "lines") and _rises(alike[0].x):
        return _lines(figure, [trace for trace in alike if "lines" in (trace.mode or "lines")])
    named = [trace for trace in alike if trace.name]
    return str(TEXT.points(sum(map(_count, alike)), len(named)))


def _count(trace: Any) -> int:
    """How many values it draws."""
    values = trace.z if trace.type == "heatmap" else trace.values if trace.type == "treemap" else trace.y
    return 0 if values is None else len(values)


def _rises(places: Any) -> bool:
    """Whether a line goes from left to right, as that of a function does."""
    return places is None or all(value < following for value, following in pairwise(places))


def _matrix(figure: go.Figure, trace: go.Heatmap) -> str:
    values = np.asarray(trace.z, float)
    if not np.isfinite(values).any():
        return str(TEXT.matrix(None, "", "", None, "", ""))
    rows, columns = _names(figure.layout.yaxis, trace.y), _names(figure.layout.xaxis, trace.x)

    def cell(place: Any) -> tuple[str, str, str]:
        row, column = np.unravel_index(int(place), values.shape)
        return number_text(values[row, column]), _name(rows, row), _name(columns, column)

    lowest = cell(np.nanargmin(values)) if np.nanmin(values) < 0 else (None, "", "")
    return str(TEXT.matrix(*cell(np.nanargmax(values)), *lowest))


def _bars(figure: go.Figure, traces: list[go.Bar]) -> str:
    bars: list[tuple[float, str]] = []
    for trace in traces:
        across = trace.orientation == "h"
        axis = figure.layout.yaxis if across else figure.layout.xaxis
        names = _names(axis, trace.y if across else trace.x)
        also = f"{plain(trace.name)}, " if trace.name and len(traces) > 1 else ""
        values = np.asarray(trace.x if across else trace.y, float)
        bars += [(value, also + _name(names, at)) for at, value in enumerate(values) if np.isfinite(value)]
    if not bars:
        return str(TEXT.empty())
    (high, most), (low, least) = max(bars), min(bars)
    return str(TEXT.bars(len(bars), number_text(high), most, number_text(low), least))


def _lines(figure: go.Figure, traces: list[go.Scatter]) -> str:
    curves = [(np.asarray(trace.y, float), trace) for trace in traces]
    curves = [(values, trace) for values, trace in curves if np.isfinite(values).any()]
    if not curves:
        return str(TEXT.empty())
    values, trace = max(curves, key=lambda curve: float(np.nanmax(curve[0])))
    finite = values[np.isfinite(values)]
    places = trace.x if trace.text is None or isinstance(trace.text, str) else trace.text
    at = _name(_names(figure.layout.xaxis, places), int(np.nanargmax(values)))
    axis = plain(figure.layout.xaxis.title.text or "").partition(" (")[0]
    name = plain(trace.name or f"curve {traces.index(trace) + 1}")
    ends = number_text(finite[0]), number_text(finite[-1])
    return str(TEXT.lines(len(curves), name, *ends, number_text(finite.max()), f"{axis} {at}".strip()))


def _areas(trace: go.Treemap) -> str:
    """Its inner areas are sums of the others, and count for nothing."""
    sums = set(trace.parents)
    names = trace.ids if trace.ids is not None else trace.labels
    leaves = [at for at, name in enumerate(names) if name not in sums]
    values = np.asarray(trace.values, float)
    largest = max(leaves, key=lambda at: float(values[at]))
    share = values[largest] / values[leaves].sum()
    return str(TEXT.areas(len(leaves), plain(trace.labels[largest]), number_text(values[largest]), f"{share:.0%}"))


def _names(axis: Any, values: Any) -> list[str]:
    """What stands at an axis's values: its own texts where it has them."""
    texts = {} if axis.ticktext is None else dict(zip(map(plain, axis.tickvals), axis.ticktext, strict=True))
    return [plain(texts.get(plain(value), value)) for value in ([] if values is None else values)]


def _name(names: list[str], at: Any) -> str:
    return names[at] if names else str(at)


def plain(text: Any) -> str:
    """A label of Plotly's without its HTML; a number as `number_text`."""
    return (
        number_text(text)
        if isinstance(text, int | float | np.number)
        else Markup(str(text).replace("<br>", " ")).striptags()
    )


def number_text(value: Any) -> str:
    """A number in at most four significant digits, whole ones in full."""
    number = float(value)
    return f"{number:,.0f}" if number == round(number) else f"{number:.4g}"
