"""One sentence on what a Plotly figure shows, computed from its own numbers: for those who can't see it."""

from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from demos.figures.figure.figure import Axis, Figure, Trace
from demos.templates import templates

TEXT = templates(__file__, "text.txt")


def with_summary(figure: Figure) -> Figure:
    """The figure with its sentence as `layout.meta`, if it has none yet; the argument is not changed."""
    layout = figure["layout"]
    return figure if "meta" in layout else figure | {"layout": layout | {"meta": summary(figure)}}


def summary(figure: Figure) -> str:
    """The sentence, of the kind of trace that the figure begins with; lines and marks that say nothing do not count."""
    traces = [trace for trace in figure["data"] if trace.get("hoverinfo") != "skip" and _count(trace)]
    if not traces:
        return str(TEXT.empty())
    kind = _kind(traces[0])
    alike = [trace for trace in traces if _kind(trace) == kind]
    if kind == "heatmap":
        return _matrix(figure, alike[0])
    if kind == "treemap":
        return _areas(alike[0])
    if kind == "bar":
        return _bars(figure, alike)
    if kind == "scatter" and "lines" in _mode(alike[0]) and _rises(alike[0].get("x")):
        return _lines(figure, [trace for trace in alike if "lines" in _mode(trace)])
    named = [trace for trace in alike if trace.get("name")]
    return str(TEXT.points(sum(map(_count, alike)), len(named)))


def _kind(trace: Trace) -> str:
    return str(trace.get("type", "scatter"))


def _mode(trace: Trace) -> str:
    return trace.get("mode") or "lines"


def _count(trace: Trace) -> int:
    """The number of values that it draws."""
    values = trace.get({"heatmap": "z", "treemap": "values"}.get(_kind(trace), "y"))
    return 0 if values is None else len(values)


def _rises(places: Any) -> bool:
    """Whether a line goes from left to right, as that of a function does."""
    return places is None or all(value < following for value, following in pairwise(places))


def _axis(figure: Figure, name: str) -> Axis:
    return figure["layout"].get(name) or {}


def _matrix(figure: Figure, trace: Trace) -> str:
    values = np.asarray(trace["z"], float)
    if not np.isfinite(values).any():
        return str(TEXT.matrix(None, "", "", None, "", ""))
    down, across = (_axis(figure, "yaxis"), trace.get("y")), (_axis(figure, "xaxis"), trace.get("x"))

    def cell(place: Any) -> tuple[str, str, str]:
        row, column = np.unravel_index(int(place), values.shape)
        return number_text(values[row, column]), _name(*down, row), _name(*across, column)

    lowest = cell(np.nanargmin(values)) if np.nanmin(values) < 0 else (None, "", "")
    return str(TEXT.matrix(*cell(np.nanargmax(values)), *lowest))


def _bars(figure: Figure, traces: list[Trace]) -> str:
    bars: list[tuple[float, str]] = []
    for trace in traces:
        across = trace.get("orientation") == "h"
        axis = _axis(figure, "yaxis" if across else "xaxis")
        names = trace.get("y" if across else "x")
        also = f"{plain(trace['name'])}, " if trace.get("name") and len(traces) > 1 else ""
        values = np.asarray(trace["x" if across else "y"], float)
        bars += [(value, also + _name(axis, names, at)) for at, value in enumerate(values) if np.isfinite(value)]
    if not bars:
        return str(TEXT.empty())
    (high, most), (low, least) = max(bars), min(bars)
    return str(TEXT.bars(len(bars), number_text(high), most, number_text(low), least))


def _lines(figure: Figure, traces: list[Trace]) -> str:
    curves = [(np.asarray(trace["y"], float), trace) for trace in traces]
    curves = [(values, trace) for values, trace in curves if np.isfinite(values).any()]
    if not curves:
        return str(TEXT.empty())
    values, trace = max(curves, key=lambda curve: float(np.nanmax(curve[0])))
    finite = values[np.isfinite(values)]
    text, axis = trace.get("text"), _axis(figure, "xaxis")
    places = trace.get("x") if text is None or isinstance(text, str) else text
    at = _name(axis, places, int(np.nanargmax(values)))
    title = plain((axis.get("title") or {}).get("text") or "").partition(" (")[0]
    number = next(number for number, other in enumerate(traces, start=1) if other is trace)
    name = plain(trace.get("name") or f"curve {number}")
    ends = number_text(finite[0]), number_text(finite[-1])
    return str(TEXT.lines(len(curves), name, *ends, number_text(finite.max()), f"{title} {at}".strip()))


def _areas(trace: Trace) -> str:
    """Its inner areas are sums of the others, and count for nothing."""
    sums = set(trace["parents"])
    names = trace["ids"] if trace.get("ids") is not None else trace["labels"]
    leaves = [at for at, name in enumerate(names) if name not in sums]
    values = np.asarray(trace["values"], float)
    largest = max(leaves, key=lambda at: float(values[at]))
    share = values[largest] / values[leaves].sum()
    return str(TEXT.areas(len(leaves), plain(trace["labels"][largest]), number_text(values[largest]), f"{share:.0%}"))


def _name(axis: Axis, values: Any, at: Any) -> str:
    """The text at the value with this number: the axis's own text if it has one."""
    if values is None or len(values) == 0:
        return str(at)
    value = plain(values[at])
    named = zip(axis["tickvals"], axis["ticktext"], strict=True) if axis.get("ticktext") is not None else ()
    return next((plain(text) for place, text in named if plain(place) == value), value)


def plain(text: Any) -> str:
    """A label of Plotly's without its HTML; a number as `number_text`."""
    if isinstance(text, int | float | np.number):
        return number_text(text)
    written = str(text)
    if "<" not in written and "&" not in written:
        return " ".join(written.split())
    return Markup(written.replace("<br>", " ")).striptags()


def number_text(value: Any) -> str:
    """A number in at most four significant digits, whole ones in full."""
    number = float(value)
    return f"{number:,.0f}" if number == round(number) else f"{number:.4g}"
