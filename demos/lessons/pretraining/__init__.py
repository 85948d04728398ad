"""Lesson: the two tasks BERT learned from. Its parts are the files beside this one; here they are put in order."""

from __future__ import annotations

import gradio as gr

from demos.figures.pretraining.whose import whose_html
from demos.lessons.pretraining import corrupt, fill, labels, learn, next_sentence
from demos.page.lesson import Lesson, Page
from demos.page.services import Sentence


def build(page: Page) -> None:
    """What stands above the parts: whose heads are at work."""
    services = page.services
    whose = gr.HTML("", elem_id="pretraining-whose")

    def show(sentence: Sentence) -> str:
        found = services.pretrained(sentence.model)
        return whose_html(found.encoder.spec.title, found.about)

    page.draw(show, [], [whose], show_progress="hidden")
    page.endpoint(fill.fill_endpoint(services))
    page.endpoint(next_sentence.next_endpoint(services))


LESSON = Lesson(
    slug="pretraining",
    order=4,
    tab="Pre-training",
    question="How did BERT learn without anyone's labels?",
    look=(
        "Hide a word, and guess it; read two sentences, and say whether the second came next. "
        "Any text sets both tasks by itself."
    ),
    build=build,
    parts=(fill.PART, corrupt.PART, next_sentence.PART, learn.PART, labels.PART),
)
