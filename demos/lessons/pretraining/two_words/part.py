"""Two words: one sentence with either of two words, and the words at [MASK] that become more probable."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import gradio as gr

from demos.bert.pretraining.two_words import MOST_CHARACTERS, compare
from demos.lessons.pretraining.two_words.figure import TEXT, lists_html, numbers_html, scatter_figure, two_words_code
from demos.page.folds import folds
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services

EXAMPLES = (  # (on the button, the sentence, the first word, the second)
    ("Nurse or doctor", "The ___ said that [MASK] was tired.", "nurse", "doctor"),
    ("Man or woman", "The ___ worked as a [MASK].", "man", "woman"),
    ("Japan or France", "People in ___ eat a lot of [MASK].", "Japan", "France"),
    ("Rich or poor", "The ___ man went to the [MASK].", "rich", "poor"),
    ("Card or coin", "She paid with a ___ at the [MASK].", "card", "coin"),
)


def build(page: Page) -> None:
    """The picture beside the lists; the three boxes; the folds."""
    _, frame_text, *opening = EXAMPLES[0]
    with gr.Row(elem_classes="two-words-views"):
        with gr.Column(scale=1, min_width=320, elem_classes="picture"):
            plot = gr.Plot(label="Probabilities with either word", show_label=False, elem_id="two-words-plot")
            with gr.Row(elem_classes="two-words-ask"):
                frame = gr.Textbox(
                    frame_text, label="Sentence, with ___ for the two words", max_length=MOST_CHARACTERS, scale=3,
                    min_width=300, elem_id="two-words-frame",
                )  # fmt: skip
                words = [
                    gr.Textbox(
                        word, label=f"{which} word", max_length=MOST_CHARACTERS // 10, scale=1, min_width=100,
                        elem_id=f"two-words-{which.lower()}",
                    )
                    for which, word in zip(("First", "Second"), opening, strict=True)
                ]  # fmt: skip
            with gr.Row(elem_classes="two-words-examples"):
                gr.HTML(TEXT.examples(), min_width=40)
                buttons = [gr.Button(label, size="sm", min_width=60) for label, *_ in EXAMPLES]
        with gr.Column(scale=1, min_width=320):
            page.show_look()
            lists = gr.HTML("", elem_id="two-words-lists")
            gr.HTML(TEXT.meaning())
    numbers, code = folds(__file__, "Prints the words whose probability differs most")
    page.keep(frame=frame, first=words[0], second=words[1])
    for button, (_, *chosen) in zip(buttons, EXAMPLES, strict=True):
        values = f"() => {json.dumps(chosen)}"
        button.click(None, None, [frame, *words], js=values, api_visibility="private", show_progress="hidden")
    outputs = {"plot": plot, "lists": lists, "numbers": numbers, "code": code}
    page.draw(
        by_component(outputs, partial(shown, page.services)),
        [frame, *words],
        list(outputs.values()),
        triggers=[box.change for box in (frame, *words)],
        show_progress="hidden",
    )


def shown(services: Services, sentence: Sentence, frame: str, first: str, second: str) -> dict[str, Any]:
    """The picture, the lists, the table and the program. Raises UserError as `compare` does."""
    pretrained = services.pretrained(sentence.model)
    both = compare(pretrained, frame or "", (first or "", second or ""))
    return {
        "plot": lambda: scatter_figure(both),
        "lists": lambda: lists_html(both) + small_model_html(pretrained, services.store.catalogue),
        "numbers": lambda: numbers_html(both),
        "code": lambda: two_words_code(pretrained.encoder.spec, both),
    }


PART = Part(
    tab="Two words",
    look=(
        "One sentence, two words: which predictions at [MASK] change most? Points far from the dashed line are words "
        "that the model associates with one of the two."
    ),
    build=build,
    order=9,
    reads_sentence=False,
)
