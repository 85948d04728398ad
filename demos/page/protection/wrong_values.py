"""Values that no field of the page can hold: one sentence to who sent them, and no traceback in the log."""

from __future__ import annotations

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
    return values


def _fits(component: gr.Component, value: Any) -> bool:
    """Whether a value is of the component's kind, where the component itself lets others pass."""
    if isinstance(component, gr.Number):
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if isinstance(component, gr.Dropdown):
        return component.multiselect or not isinstance(value, list)
    return not isinstance(component, gr.Checkbox) or value is None or isinstance(value, bool)


def tell_wrong_values() -> None:
    """Have Gradio check with `checked`."""
    gr.Blocks.preprocess_data = checked
