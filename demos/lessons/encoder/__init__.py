"""Lesson: one token's way through the encoder. Its parts are the folders beside this file."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.page.layer_head_choices import counted_slider, slider
from demos.page.lesson import Lesson, Page
from demos.page.parts import parts_of
from demos.page.services import Sentence
from demos.widgets.token_picker.figure import picker_html
from demos.widgets.token_picker.token_picker import pick, token_picker

CHOOSE = "Token to follow"


def build(page: Page) -> None:
    """The controls that all parts share: the token, the layer and the head."""
    services = page.services
    catalogue = services.store.catalogue.values()
    with gr.Row(elem_classes="encoder-choices", equal_height=False):
        with gr.Column(scale=5, min_width=340):
            chips, token = token_picker(CHOOSE, "encoder-token", value=12)
        layer = counted_slider(
            max(spec.num_layers for spec in catalogue), 0, label="Layer",
            elem_id="encoder-layer", scale=1, min_width=190,
        )  # fmt: skip
        head = counted_slider(
            max(spec.num_heads for spec in catalogue), 4, label="Head",
            elem_id="encoder-head", scale=1, min_width=190,
        )  # fmt: skip
    page.share(token=token, layer=layer, head=head)

    def choices(sentence: Sentence, index: float, layer_now: float, head_now: float) -> dict[gr.Component, Any]:
        run = services.run(sentence)
        at = pick(run.encoding, index)
        return {
            chips: picker_html(run.encoding, at, CHOOSE),
            token: at,
            layer: slider(layer_now, run.num_layers),
            head: slider(head_now, run.num_heads),
        }

    page.draw(choices, [token, layer, head], [chips, token, layer, head], show_progress="hidden")


LESSON = Lesson(
    slug="encoder",
    order=3,
    only_bert=True,
    tab="Inside the encoder",
    question="How does BERT process a token?",
    look=(
        "Choose a token and follow it through the model, step by step: the output of each step is the input of the "
        "next. All numbers are computed from the model's weights and checked against the model's own output."
    ),
    build=build,
    parts=parts_of(__name__),
)
