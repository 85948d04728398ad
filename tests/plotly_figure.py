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
    """The figure as Plotly reads it. It raises ValueError for what Plotly does not know.
    The page's own build of Plotly.js knows fewer kinds of trace.

    It holds no shorthand (`title="x"`, `margin_t=9`) either: Plotly.js, which reads the dictionary itself, knows none.
    """
    read = go.Figure(figure)
    assert {trace.type for trace in read.data} <= KINDS, "assets/vendor/plotly/README.md: a further kind of trace"
    written = {"data": [trace._props for trace in read.data], "layout": read.layout._props}
    ours, theirs = ({place for place, _ in places(one)} for one in (figure, written))
    assert ours <= theirs, f"not said as Plotly.js reads it: {sorted(ours - theirs)}"
    json.loads(figure_json(figure))
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
