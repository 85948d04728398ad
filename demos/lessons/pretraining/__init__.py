"""Lesson: the two tasks that BERT was pre-trained on. Its parts are the folders beside this file."""

from dataclasses import replace
from typing import Any

import gradio as gr

from demos.lessons.pretraining.fill_mask.part import fill_endpoint
from demos.lessons.pretraining.next_sentence.part import next_endpoint
from demos.page.lesson import Lesson, Page
from demos.page.parts import parts_of
from demos.page.services import Sentence
from demos.templates import templates


def build(page: Page) -> None:
    """The note under the parts: the origin of the heads in use."""
    services = page.services
    whose = gr.HTML("", elem_id="pretraining-whose", elem_classes="under-parts")

    def show(sentence: Sentence) -> dict[gr.Component, Any]:
        pretrained = services.pretrained(sentence.model)
        return {whose: templates(__file__).whose(pretrained.encoder.spec.title, pretrained.about)}

    replace(page, reads_sentence=False).draw(show, [], [whose], show_progress="hidden")
    page.endpoint(fill_endpoint(services))
    page.endpoint(next_endpoint(services))


LESSON = Lesson(
    slug="pretraining",
    order=4,
    only_bert=True,
    tab="Pre-training",
    question="How can a model learn without human labels?",
    look=(
        "BERT was pre-trained on two tasks: predict masked words, and predict whether one sentence follows another. "
        "The text itself provides the labels: the hidden words, and whether the second sentence really came next."
    ),
    build=build,
    parts=parts_of(__name__),
)
