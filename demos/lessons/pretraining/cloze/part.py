"""Cloze prompts: a sentence, “It was [MASK].” and two words, with or without examples; compared with fine-tuning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import gradio as gr

from demos.bert.model.text import clean_text
from demos.bert.pretraining.cloze import GAP, LABEL_WORDS, PATTERNS, Solved, drawn, ended, read_prompts
from demos.errors import UserError
from demos.lessons.pretraining.cloze.figure import TEXT, accuracy_figure, accuracy_html, prompt_html, reading_html
from demos.lessons.pretraining.cloze.program import cloze_code
from demos.lessons.pretraining.cloze.samples import sample
from demos.page.drawing.drawn import drawable
from demos.page.folds import all_controls, folds
from demos.page.larger_model.larger_model import small_model_html
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.training.data.splits import MAX_TRAIN
from demos.training.sources import SOURCES

NUMBERS = (0, 1, 4, 8)  # solved examples of each class in the input
DRAWS = 10


@dataclass(frozen=True)
class Example:
    """A remark to try; the bundled model judges it as its writer meant it, unless it is a hard one."""

    label: str  # on the button
    text: str
    is_positive: bool
    is_hard: bool = False


EXAMPLES = (
    Example("A warm book", "A wonderful book, full of warmth.", True),
    Example("A rude waiter", "The soup was cold and the waiter was rude.", False),
    Example("A long film", "I kept waiting for it to get better, and then the lights came on.", False),
    Example("A stunning film (SST-2)", "a visually stunning rumination on love", True, is_hard=True),
    Example("Praise by negation", "There's nothing I'd change about this bag.", True, is_hard=True),
)
PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


@cache
def remarks() -> tuple[Solved, ...]:
    """Our own training remarks, from which solved examples are drawn."""
    data: Any = SOURCES["sentiment"].load(0, MAX_TRAIN)
    positive = data.labels.index("positive")
    return tuple(Solved(example.text, example.label == positive) for example in data.train)


def build(page: Page) -> None:
    """The prompt and its two words; the measured accuracies beside them; the folds."""
    with gr.Row(elem_classes="cloze-views"):
        with gr.Column(scale=6, min_width=320, elem_classes="picture"):
            prompt = gr.HTML("", elem_id="cloze-prompt")
            with gr.Row(elem_classes="cloze-examples"):
                buttons: list[tuple[gr.Button, Example]] = []
                for is_hard, heading in ((False, TEXT.examples()), (True, TEXT.hard())):
                    gr.HTML(heading, min_width=40)
                    buttons += [
                        (gr.Button(example.label, size="sm", min_width=60), example)
                        for example in EXAMPLES
                        if example.is_hard == is_hard
                    ]
            reading = gr.HTML("", elem_id="cloze-reading")
        with gr.Column(scale=5, min_width=320):
            page.show_look()
            number = gr.Radio(
                list(NUMBERS), value=0, label="Labeled examples of each class in the input", elem_id="cloze-number"
            )
            gr.Plot(
                drawable(accuracy_figure(sample())),
                label="Accuracy by number of examples",
                show_label=False,
                elem_id="cloze-accuracy",
            )
            gr.HTML(TEXT.measured(sample(), sample().standard_error, sample().examples_help), elem_id="cloze-measured")
    with all_controls(page, __file__):
        draw = gr.Slider(
            1, DRAWS, value=1, step=1, label="Random selection of the examples, and their order", elem_id="cloze-draw"
        )
        pattern = gr.Radio(list(PATTERNS), value=PATTERNS[0], label="Pattern with [MASK]", elem_id="cloze-pattern")
        words = gr.Radio(
            [" / ".join(pair) for pair in LABEL_WORDS],
            value=" / ".join(LABEL_WORDS[0]),
            label="Label words (positive / negative)",
            elem_id="cloze-words",
        )
    numbers, code = folds(__file__, "Prints both words' probabilities, with and without the sentence")
    page.keep(examples=number, draw=draw, pattern=pattern, label_words=words)
    for button, example in buttons:
        js = f"() => {json.dumps([example.text, ''])}"
        button.click(None, None, [page.text, page.text_pair], js=js, **PRIVATE)
    outputs = {"prompt": prompt, "reading": reading, "numbers": numbers, "code": code}
    page.draw(
        by_component(outputs, partial(shown, page.services)),
        [number, draw, pattern, words],
        list(outputs.values()),
        show_progress="hidden",
    )


def shown(services: Services, sentence: Sentence, number: Any, draw: Any, pattern: str, words: str) -> dict[str, Any]:
    """The prompt, the head's predictions at [MASK] with and without the sentence, the numbers and the program."""
    each = int(number) if number in NUMBERS else 0
    solved = drawn(remarks(), each, clamp(float(draw or 1) - 1, DRAWS))
    chosen = pattern if pattern in PATTERNS else PATTERNS[0]
    label_words = next((pair for pair in LABEL_WORDS if " / ".join(pair) == words), LABEL_WORDS[0])
    if not sentence.text.strip():
        raise UserError("There is no sentence to judge; type one.")
    pretrained = services.pretrained(sentence.model)
    before, _, after = chosen.partition(GAP)
    text = ended(clean_text(sentence.text).strip())
    return {
        "prompt": lambda: prompt_html(text, solved, (before, after), label_words),
        "reading": lambda: (
            reading_html(*read_prompts(pretrained, [sentence.text, ""], solved, chosen, label_words))
            + small_model_html(pretrained, services.store.catalogue)
        ),
        "numbers": lambda: accuracy_html(sample()),
        "code": lambda: cloze_code(pretrained.encoder.spec, text, solved, chosen, label_words),
    }


PART = Part(
    tab="Prompts",
    look=(
        "A classifier without fine-tuning: “It was [MASK].” follows your sentence, and the probabilities of two words "
        "at [MASK] are compared. Labeled examples can be put before your sentence, or be used for fine-tuning."
    ),
    build=build,
    order=8,
)
