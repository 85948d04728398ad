"""Two words: one sentence with either of two words, and the words at [MASK] that become more probable."""

import json
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.bert.pretraining.two_words import MOST_CHARACTERS, compare
from demos.lessons.pretraining.two_words.figure import TEXT, lists_html, numbers_html, scatter_figure, two_words_code
from demos.page.larger_model.larger_model import small_model_html
from demos.page.lesson import IN_BROWSER
from demos.page.view import Layout, On, Shown, View, words

EXAMPLES = (  # (on the button, the sentence, the first word, the second)
    ("Nurse or doctor", "The ___ said that [MASK] was tired.", "nurse", "doctor"),
    ("Man or woman", "The ___ worked as a [MASK].", "man", "woman"),
    ("Japan or France", "People in ___ eat a lot of [MASK].", "Japan", "France"),
    ("Rich or poor", "The ___ man went to the [MASK].", "rich", "poor"),
    ("Card or coin", "She paid with a ___ at the [MASK].", "card", "coin"),
)


_, FRAME, *OPENING = EXAMPLES[0]


def _word(which: str, value: str) -> Any:
    return words(
        value,
        f"{which} word",
        max_length=MOST_CHARACTERS // 10,
        scale=1,
        min_width=100,
        elem_id=f"two-words-{which.lower()}",
    )


class TwoWords(View):
    tab, order, reads_sentence = "Two words", 9, False
    look = (
        "One sentence, two words: which predictions at [MASK] change most? Points far from the dashed line are words "
        "that the model associates with one of the two."
    )

    @dataclass(frozen=True)
    class Choices:
        frame: str = words(
            FRAME,
            "Sentence, with ___ for the two words",
            max_length=MOST_CHARACTERS,
            scale=3,
            min_width=300,
            elem_id="two-words-frame",
        )
        first: str = _word("First", OPENING[0])
        second: str = _word("Second", OPENING[1])

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="two-words-views"):
            with gr.Column(scale=1, min_width=320, elem_classes="picture"):
                at.plot("plot", "Probabilities with either word", elem_id="two-words-plot")
                with gr.Row(elem_classes="two-words-ask"):
                    boxes = [at.control(name) for name in ("frame", "first", "second")]
                with gr.Row(elem_classes="two-words-examples"):
                    gr.HTML(TEXT.examples(), min_width=40)
                    for label, *chosen in EXAMPLES:
                        button = gr.Button(label, size="sm", min_width=60)
                        button.click(None, None, boxes, js=f"() => {json.dumps(chosen)}", **IN_BROWSER)
            with gr.Column(scale=1, min_width=320):
                at.look()
                at["lists"] = gr.HTML("", elem_id="two-words-lists")
                gr.HTML(TEXT.meaning())
        at.folds("Prints the words whose probability differs most")

    def draw(self, on: On, c: Choices) -> Shown:
        """The picture, the lists, the table and the program. Raises UserError as `compare` does."""
        pretrained = on.services.pretrained(on.sentence.model)
        both = compare(pretrained, c.frame, (c.first, c.second))
        return {
            "plot": lambda: scatter_figure(both),
            "lists": lambda: lists_html(both) + small_model_html(pretrained, on.services.store.catalogue),
            "numbers": lambda: numbers_html(both),
            "program": lambda: two_words_code(pretrained.encoder.spec, both),
        }
