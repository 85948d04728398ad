"""Values that no field of the page can hold: one sentence to who sent them, and no traceback in the log."""

import math
from collections.abc import Sequence
from typing import Any

import gradio as gr

WRONG = "A value does not match its field; reload the page and try again."
original = gr.Blocks.preprocess_data


async def checked(blocks: gr.Blocks, function: Any, *arguments: Any, **options: Any) -> Any:
    """`Blocks.preprocess_data`; whatever a component raises there is about what was sent."""
    try:
        values = await original(blocks, function, *arguments, **options)
        if not all(map(_fits, function.inputs, values)):
            raise ValueError(WRONG)
    except Exception as error:
        raise gr.Error(WRONG, print_exception=False) from error
    pairs = zip(function.inputs, values, strict=False)
    return [_without(component) if value is None else value for component, value in pairs]


def _without(component: gr.Component) -> Any:
    """The value used for null, which a browser may send while a menu's choices change, and anybody at any time.

    An empty text; for a menu, the choice that it was built with, if any; else None.
    """
    if isinstance(component, gr.Textbox):
        return ""
    if isinstance(component, gr.Dropdown) and component.multiselect:
        return []
    return component.value if isinstance(component, gr.Dropdown | gr.Radio) else None


def _fits(component: gr.Component, value: Any) -> bool:
    """Whether a value is of the component's kind, where the component itself lets others pass."""
    if isinstance(component, gr.Slider):
        return _is_number(value)
    if isinstance(component, gr.Number):
        return value is None or _is_number(value)
    if isinstance(component, gr.Dropdown | gr.Radio):
        if isinstance(value, list):
            return isinstance(component, gr.Dropdown) and bool(component.multiselect)
        return value is None or not component.choices or _is_like_one(value, component.choices)
    return not isinstance(component, gr.Checkbox) or value is None or isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_like_one(value: Any, choices: Sequence[tuple[str, Any]]) -> bool:
    """Whether one of the choices is of the value's type: to Python, true is 1. JSON may have 1 for 1.0."""
    types = {type(choice) for _, choice in choices}
    return type(value) in types or (type(value) is int and float in types)


async def fetch_nothing(*_: Any, **__: Any) -> str:
    """In the place of Gradio's download of a file whose path is an address: nothing of ours has such a file."""
    raise ValueError(WRONG)
