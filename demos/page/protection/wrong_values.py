"""Values that no field of the page can hold: one sentence to who sent them, and no traceback in the log."""

from __future__ import annotations

from typing import Any

import gradio as gr

WRONG = "A value does not fit the field that it was sent for; reload the page and try again."
original = gr.Blocks.preprocess_data


async def checked(blocks: gr.Blocks, *arguments: Any, **options: Any) -> Any:
    """`Blocks.preprocess_data`; whatever a component raises there is about what was sent."""
    try:
        return await original(blocks, *arguments, **options)
    except Exception as error:
        raise gr.Error(WRONG, print_exception=False) from error


def tell_wrong_values() -> None:
    """Have Gradio check with `checked`."""
    gr.Blocks.preprocess_data = checked
