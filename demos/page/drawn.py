"""What a handler answers, as the browser takes it: figures as their JSON, each with its sentence."""

from __future__ import annotations

from typing import Any

from gradio.components.plot import PlotData

from demos.figures.figure import figure_json, is_figure
from demos.figures.summary.summary import with_summary


def drawable(value: Any) -> Any:
    """A component's value, or its update, with a figure as the text that Gradio sends."""
    if is_figure(value):
        return PlotData(type="plotly", plot=figure_json(with_summary(value)))
    if hasattr(value, "to_plotly_json"):
        return drawable({"data": list(value._data), "layout": value._layout})
    if isinstance(value, dict) and "value" in value:
        return value | {"value": drawable(value["value"])}
    return value


def names_components(answer: Any) -> bool:
    """Whether a handler's answer is {component: value}; gr.update() and gr.skip() are dictionaries too, with a type."""
    return isinstance(answer, dict) and "__type__" not in answer and not is_figure(answer)
