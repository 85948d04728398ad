"""The common settings of the lessons' Plotly axes, marks that many figures share, and Plotly's own script."""

from typing import Any

from demos.figures.figure.figure import Attributes, Axis, Mark
from demos.files import read_asset

BOTH_PAPERS = "#7b8288"  # a line's grey that is visible on light and on dark paper


def axis(title: str = "", size: int = 16, **more: Any) -> Axis:
    """An axis with title and numbers of one size, without the line through zero; `more` are Plotly's own settings."""
    return {"title": {"text": title, "font": {"size": size}}, "tickfont": {"size": size}, "zeroline": False} | more


def whiskers(low: Any, high: Any, **more: Any) -> Attributes:
    """Error bars that reach from `low` under each value to `high` over it, [n] each."""
    return {"type": "data", "symmetric": False, "arrayminus": low, "array": high, "color": BOTH_PAPERS} | more


def level_line(value: float, **line: Any) -> Mark:
    """A shape: the line at `value` of the y axis, across the whole picture; `line` is its looks."""
    return {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": value, "y1": value, "yref": "y", "line": line}


def panels(count: int, gap: float) -> list[list[float]]:
    """The domains of `count` panels of one size beside each other, from the left, or above each other, from below."""
    size = (1 - gap * (count - 1)) / count
    return [[at * (size + gap), min(1, at * (size + gap) + size)] for at in range(count)]


def of_panel(number: int) -> dict[str, str]:
    """The axes of a trace in panel `number`, from 1: Plotly has x, x2, x3, … and y, y2, y3, …"""
    return {f"{way}axis": way if number == 1 else f"{way}{number}" for way in "xy"}


def panel_axes(number: int, across: Axis, up: Axis) -> dict[str, Axis]:
    """Both axes of panel `number` as the layout names them, each tied to the other."""
    of = of_panel(number)
    places = {"xaxis": across | {"anchor": of["yaxis"]}, "yaxis": up | {"anchor": of["xaxis"]}}
    return {name if number == 1 else f"{name}{number}": axis for name, axis in places.items()}


def panel_title(text: str, across: list[float], top: float = 1.0, size: int = 16) -> Mark:
    """A title above a panel: the middle of its domain across, and where its domain ends."""
    place = {"x": sum(across) / 2, "y": top, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    return place | {"text": text, "showarrow": False, "font": {"size": size}}


def plotly_script() -> str:
    """Plotly's own script, 1.6 MB, built with the kinds of trace that the figures have (assets/vendor/plotly)."""
    return read_asset("vendor/plotly/plotly.min.js")
