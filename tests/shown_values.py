"""What a part's handler answers, as its tests read it: functions called, and figures as Plotly reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from demos.figures.figure.figure import is_figure
from tests.plotly_figure import plotly


def shown_values(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What is shown, by name: also what stands in shut folds, and each figure as Plotly reads it."""
    return {name: shown_value(value) for name, value in answer.items()}


def shown_value(value: Any) -> Any:
    """A value, or an update with one; a function's is its result."""
    value = called(value)
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
            return {name: called(value) for name, value in drawn.items()}
        return [called(value) for value in drawn] if isinstance(drawn, list | tuple) else called(drawn)

    return answer


def called(value: Any) -> Any:
    """The result of a function, and any other value as it is."""
    return value() if callable(value) else value
