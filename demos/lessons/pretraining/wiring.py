"""Wiring that several parts of this lesson share."""

from __future__ import annotations

import gradio as gr

from demos.page.services import Sentence

SEEDS = 2**31 - 1  # from 0


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


def text_of(sentence: Sentence, text: str | None) -> str:
    """The part's own text, or the bar's sentence if that text is empty."""
    return text if text and text.strip() else sentence.text
