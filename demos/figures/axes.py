"""What most Plotly axes of the lessons have in common, marks that many figures share, and Plotly's own script."""

from __future__ import annotations

from typing import Any

from plotly.offline import get_plotlyjs

BOTH_PAPERS = "#7b8288"  # a line's grey that is seen on light and on dark paper


def axis(title: str = "", size: int = 16, **more: Any) -> dict[str, Any]:
    """An axis with title and numbers of one size, without the line through zero; `more` are Plotly's own settings."""
    return {"title": {"text": title, "font": {"size": size}}, "tickfont": {"size": size}, "zeroline": False} | more


def whiskers(low: Any, high: Any, **more: Any) -> dict[str, Any]:
    """Error bars that reach from `low` under each value to `high` over it, [n] each."""
    return {"type": "data", "symmetric": False, "arrayminus": low, "array": high, "color": BOTH_PAPERS} | more


def level_line(value: float, **line: Any) -> dict[str, Any]:
    """A shape: the line at `value` of the y axis, across the whole picture; `line` is its looks."""
    return {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": value, "y1": value, "yref": "y", "line": line}


def plotly_script() -> str:
    """Plotly's own script, some 4 MB of JavaScript, for files that draw its figures with no network."""
    return str(get_plotlyjs())
