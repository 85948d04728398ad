"""Lesson: one token's way through the encoder. Its parts are the folders beside this file."""

from typing import Any

import gradio as gr

from demos.lessons.encoder.choices import PICKER, TOKEN, Shared
from demos.page.lesson import Lesson, Page
from demos.page.parts import parts_of
from demos.page.services import Sentence
from demos.page.view import Limits, On, controls_of, read_choices
from demos.widgets.token_picker.figure import picker_html
from demos.widgets.token_picker.token_picker import token_picker

CHOOSE = "Token to follow"


def build(page: Page) -> None:
    """The controls that all parts share."""
    controls = controls_of(Shared)
    with gr.Row(elem_classes="encoder-choices", equal_height=False):
        with gr.Column(scale=5, min_width=340):
            chips, token = token_picker(CHOOSE, PICKER, value=TOKEN, link="token")
        layer, head = (controls[name].make(page.services) for name in ("layer", "head"))
    page.share(token=token, layer=layer, head=head)
    limits = Limits(page.choices, controls)

    def above(sentence: Sentence, *said: float) -> dict[gr.Component, Any]:
        on = On(page.services, sentence)
        chosen = dict(zip(controls, said, strict=True))
        c = read_choices(Shared, on, chosen)
        return {chips: picker_html(on.encoding, c.token, CHOOSE), **limits.answer(on, c, chosen)}

    page.draw(above, [token, layer, head], [chips, *limits.outputs], show_progress="hidden")


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
