"""What several parts of this lesson wire alike."""

from __future__ import annotations

import gradio as gr


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
