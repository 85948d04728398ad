"""Cloze prompts: a sentence, “It was [MASK].” and two words, with or without examples; compared with fine-tuning."""

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import gradio as gr

from demos.bert.model.text import clean_text
from demos.bert.pretraining.cloze import GAP, LABEL_WORDS, PATTERNS, Solved, drawn, ended, read_prompts
from demos.errors import UserError
from demos.figures.token_chips import token_label
from demos.lessons.pretraining.cloze.figure import TEXT, accuracy_figure, accuracy_html, cloze_code, reading_html
from demos.lessons.pretraining.cloze.samples import sample
from demos.page.drawing.drawn import drawable
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, options, slider
from demos.training.data.splits import MAX_TRAIN
from demos.training.sources import SOURCES

NUMBERS = (0, 1, 4, 8)  # solved examples of each class in the input
DRAWS = 10
WORDS = {" / ".join(pair): pair for pair in LABEL_WORDS}
ALIKE = 0.05  # probabilities that differ by a smaller share are the same


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


@cache
def remarks() -> tuple[Solved, ...]:
    """Our own training remarks, from which solved examples are drawn."""
    data: Any = SOURCES["sentiment"].load(0, MAX_TRAIN)
    positive = data.labels.index("positive")
    return tuple(Solved(example.text, example.label == positive) for example in data.train)


class Cloze(View):
    tab, order = "Prompts", 8
    look = (
        "A classifier without fine-tuning: “It was [MASK].” follows your sentence, and the probabilities of two words "
        "at [MASK] are compared. Labeled examples can be put before your sentence, or be used for fine-tuning."
    )

    @dataclass(frozen=True)
    class Choices:
        examples: int = options(
            [(str(number), number) for number in NUMBERS],
            0,
            "Labeled examples of each class in the input",
            elem_id="cloze-number",
        )
        draw: int = slider(1, DRAWS, 1, "Random selection of the examples, and their order", elem_id="cloze-draw")
        pattern: str = options(
            [(pattern, pattern) for pattern in PATTERNS], PATTERNS[0], "Pattern with [MASK]", elem_id="cloze-pattern"
        )
        label_words: str = options(
            [(pair, pair) for pair in WORDS],
            next(iter(WORDS)),
            "Label words (positive / negative)",
            elem_id="cloze-words",
        )

    def lay_out(self, at: Layout) -> None:
        page = at.page
        with gr.Row(elem_classes="cloze-views"):
            with gr.Column(scale=6, min_width=320, elem_classes="picture"):
                at["prompt"] = gr.HTML("", elem_id="cloze-prompt")
                with gr.Row(elem_classes="cloze-examples"):
                    for is_hard, heading in ((False, TEXT.examples()), (True, TEXT.hard())):
                        gr.HTML(heading, min_width=40)
                        for example in filter(lambda example: example.is_hard == is_hard, EXAMPLES):
                            button = gr.Button(example.label, size="sm", min_width=60)
                            js = f"() => {json.dumps([example.text, ''])}"
                            button.click(None, None, [page.text, page.text_pair], js=js, **IN_BROWSER)
                at["reading"] = gr.HTML("", elem_id="cloze-reading")
            with gr.Column(scale=5, min_width=320):
                at.look()
                at.control("examples")
                gr.Plot(
                    drawable(accuracy_figure(sample())),
                    label="Accuracy by number of examples",
                    show_label=False,
                    elem_id="cloze-accuracy",
                )
                measured = TEXT.measured(sample(), sample().standard_error)
                gr.HTML(measured, elem_id="cloze-measured")
        with at.all_controls():
            for name in ("draw", "pattern", "label_words"):
                at.control(name)
        at.folds("Prints both words' probabilities, with and without the sentence")

    def draw(self, on: On, c: Choices) -> Shown:
        """The prompt, the head's predictions at [MASK] with and without the sentence, the numbers and the program."""
        if not on.sentence.text.strip():
            raise UserError("There is no sentence to judge; type one.")
        solved, label_words = drawn(remarks(), c.examples, c.draw - 1), WORDS[c.label_words]
        pretrained = on.services.pretrained(on.sentence.model)
        before, _, after = c.pattern.partition(GAP)
        text = ended(clean_text(on.sentence.text).strip())
        return {
            "prompt": lambda: TEXT.prompt(text, solved, (before, after), label_words),
            "reading": lambda: (
                reading_html(*read_prompts(pretrained, [on.sentence.text, ""], solved, c.pattern, label_words))
                + small_model_html(pretrained, on.services.store.catalogue)
            ),
            "numbers": lambda: accuracy_html(sample()),
            "program": lambda: cloze_code(pretrained.encoder.spec, text, solved, c.pattern, label_words),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The key: whether both are alike without a sentence; by the first pattern and label words, no solved example."""
    if not sentence.text.strip():
        raise UserError("There is no sentence to judge; type one.")
    pretrained = services.pretrained(sentence.model)
    with_text, without = read_prompts(pretrained, [sentence.text, ""], (), PATTERNS[0], LABEL_WORDS[0])
    facts = {
        word + suffix: guess.probability
        for reading, suffix in ((with_text, ""), (without, "_alone"))
        for word, guess in zip(LABEL_WORDS[0], reading.words, strict=True)
    }
    key = "equal" if math.isclose(*(guess.probability for guess in without.words), rel_tol=ALIKE) else "unequal"
    return Answer(keys=frozenset({key}), facts=facts | {"first": token_label(with_text.best[0].token)})
