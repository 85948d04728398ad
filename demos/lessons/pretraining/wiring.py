"""What several parts of this lesson wire alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gradio as gr


def by_component(
    parts: Mapping[str, gr.Component], handler: Callable[..., dict[str, Any]]
) -> Callable[..., dict[Any, Any]]:
    """`handler` returns values by the names of `parts`; a handler that returns them by the parts themselves."""
    return lambda *values: {parts[name]: value for name, value in handler(*values).items()}


def count_on(button: gr.Button, number: gr.Number, count: int) -> None:
    """A click makes the number the next one below `count`, or 0; in the browser alone."""
    button.click(
        None,
        [number],
        [number],
        js=f"(number) => (Math.floor(Number(number) || 0) + 1) % {count}",
        api_visibility="private",
        show_progress="hidden",
    )
