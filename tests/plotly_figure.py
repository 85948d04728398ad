"""Figures are dictionaries that nothing checks as they are drawn: here Plotly itself reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from demos.figures.axes import plotly_script
from demos.figures.figure.figure import Figure, figure_json

KINDS = set(re.findall(r'moduleType:"trace",name:"(\w+)"', plotly_script()))


def plotly(figure: Figure) -> go.Figure:
    """The figure as Plotly reads it. It raises ValueError for what Plotly does not know, on a phone too.
    The page's own build of Plotly.js knows fewer kinds of trace.

    It holds no shorthand (`title="x"`, `margin_t=9`) either: Plotly.js, which reads the dictionary itself, knows none.
    """
    json.loads(figure_json(figure))
    if "phone" in figure["layout"]:
        _read(on_a_phone(figure))
    return _read(elsewhere(figure))


def elsewhere(figure: Figure) -> Figure:
    """The figure without what is different on a phone."""
    return {"data": figure["data"], "layout": {name: one for name, one in figure["layout"].items() if name != "phone"}}


def on_a_phone(figure: Figure) -> Figure:
    """The figure as demos/page/plots.js draws it on a phone."""
    phone, wide = figure["layout"]["phone"], elsewhere(figure)
    changes = {int(at): change for at, change in phone["data"].items()}  # of figures as they are sent, too
    assert changes.keys() <= set(range(len(wide["data"])))
    data = [_changed(trace, changes.get(at, {})) for at, trace in enumerate(wide["data"])]
    return {"data": data, "layout": _changed(wide["layout"], phone["layout"])}


def _changed(part: Any, changes: Any) -> Any:
    if not (isinstance(part, dict) and isinstance(changes, dict)):
        return changes
    return part | {name: _changed(part.get(name), change) for name, change in changes.items()}


def _read(figure: Figure) -> go.Figure:
    read = go.Figure(figure)
    assert {trace.type for trace in read.data} <= KINDS, "assets/vendor/plotly/README.md: a further kind of trace"
    written = {"data": [trace._props for trace in read.data], "layout": read.layout._props}
    ours, theirs = ({place for place, _ in places(one)} for one in (figure, written))
    assert ours <= theirs, f"not said as Plotly.js reads it: {sorted(ours - theirs)}"
    return read


def places(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a figure that is no dictionary, with the names that lead to it; None is nothing."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name != "template":
                yield from places(one, f"{at}.{name}")
    elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        for number, one in enumerate(value):
            yield from places(one, f"{at}[{number}]")
    elif value is not None and not (isinstance(value, list | tuple) and not value):
        yield at, value
