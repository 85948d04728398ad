"""Lesson: one token's way through the encoder. Its parts are the files beside this one; here they are put in order."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.lessons.encoder import block, input, masks, position, selfattention, size, stack
from demos.page.lesson import Lesson, Page
from demos.page.picker import picked, token_picker
from demos.page.services import Sentence

CHOOSE = "Follow the token"


def build(page: Page) -> None:
    """What all parts share: the token, the layer and the head."""
    services = page.services
    catalogue = services.store.catalogue.values()
    with gr.Row(elem_classes="encoder-choices", equal_height=False):
        with gr.Column(scale=4, min_width=420):
            token = token_picker(CHOOSE, "encoder-token", value=12)
        layer = gr.Slider(
            0, max(spec.num_layers for spec in catalogue) - 1, 0, step=1, label="Layer (from 0)",
            elem_id="encoder-layer", scale=1, min_width=230,
        )  # fmt: skip
        head = gr.Slider(
            0, max(spec.num_heads for spec in catalogue) - 1, 4, step=1, label="Head (from 0)",
            elem_id="encoder-head", scale=1, min_width=230,
        )  # fmt: skip
    page.share(token=token.index, layer=layer, head=head)

    def choices(sentence: Sentence, at: float, layer: float, head: float) -> list[Any]:
        run = services.run(sentence)
        chips, index = picked(run.encoding, at, CHOOSE)
        return [chips, index, _within(layer, run.num_layers), _within(head, run.num_heads)]

    page.draw(choices, [token.index, layer, head], [token.chips, token.index, layer, head], show_progress="hidden")


def _within(value: float, count: int) -> Any:
    """The slider's new end; its value only where it lies beyond, so that it stays under the hand that drags it."""
    return gr.update(maximum=count - 1, **({"value": count - 1} if value >= count else {}))


LESSON = Lesson(
    slug="encoder",
    order=3,
    tab="Inside the encoder",
    question="What happens to one token inside BERT?",
    look=(
        "Pick a token and walk with it through the model, part by part: each step's output is the next one's input. "
        "Every number is computed from the model's own weights and held against the model's own output."
    ),
    build=build,
    parts=(input.PART, position.PART, selfattention.PART, block.PART, stack.PART, size.PART, masks.PART),
)
