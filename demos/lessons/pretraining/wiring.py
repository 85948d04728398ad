"""Wiring that several parts of this lesson share."""

from typing import Any

import gradio as gr

from demos.page.services import Sentence
from demos.page.view import words
from demos.widgets.seed_box.seed_box import seed_choice

SEEDS = 2**31 - 1  # from 0


def own_text(value: str, elem_id: str, **look: Any) -> Any:
    """A view's choice of a text that is read instead of the bar's sentence (`text_of`)."""
    label = "Your text (if empty: the sentence at the top of the page)"
    return words(value, label, elem_id=elem_id, **{"lines": 2, "max_lines": 6} | look)


def seed_of_draw(value: int, elem_id: str, label: str = "Seed of the draw", **look: Any) -> Any:
    """A view's choice of a seed, which a button counts on."""
    return seed_choice(value, label, by_script=True, elem_id=elem_id, **look)


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
