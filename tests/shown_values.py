"""What a part's handler answers, as its tests read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from demos.figures.figure.figure import is_figure
from tests.plotly_figure import plotly


def shown_values(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What is shown, by name: also what stands in shut folds, and each figure as Plotly reads it."""
    return {name: _read(value) for name, value in answer.items()}


def _read(value: Any) -> Any:
    if callable(value):
        return _read(value())
    if is_figure(value):
        return plotly(value)
    if isinstance(value, dict) and is_figure(value.get("value")):
        return value | {"value": plotly(value["value"])}
    return value


def with_values(show: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose answer (one value, a sequence, or a dict by name) holds the values of the functions in it."""

    def answer(*inputs: Any, **options: Any) -> Any:
        drawn = show(*inputs, **options)
        if isinstance(drawn, dict):
            return {name: _called(value) for name, value in drawn.items()}
        return [_called(value) for value in drawn] if isinstance(drawn, list | tuple) else _called(drawn)

    return answer


def _called(value: Any) -> Any:
    return value() if callable(value) else value
