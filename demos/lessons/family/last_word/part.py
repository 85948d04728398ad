"""Who sees what: the states that change with the last word, in BERT and in the decoder, layer by layer."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.causal.last_word import changes
from demos.errors import UserError
from demos.lessons.family.last_word.figure import changes_figure, masks_figure, numbers_html, summary_html
from demos.lessons.family.last_word.program import changes_code
from demos.page.folds import folds
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

SHOWN = 24  # tokens in the picture, the last ones


def build(page: Page) -> None:
    """The changes of both models beside their masks; the word; the folds."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="last-word-views"):
        with gr.Column(scale=6, min_width=320, elem_id="last-word-changes", elem_classes="picture attention-heatmap"):
            parts["plot"] = gr.Plot(label="Change of each state with the last word", show_label=False)
            with takeaway_row("Download the picture:"):
                picture_buttons("#last-word-changes", "bert-decoder-last-word", page)
        with gr.Column(scale=4, min_width=320):
            word = gr.Textbox("cake", label="Replace the last word with", max_lines=1, elem_id="last-word-word")
            page.show_look()
            parts["said"] = gr.HTML("", elem_id="last-word-said")
            parts["masks"] = gr.Plot(label="Which tokens each token attends to", show_label=False)
    parts["numbers"], parts["program"] = folds(__file__, "The decoder's states before and after")
    page.keep(other_word=word)
    page.draw(by_component(parts, partial(drawn, page.services)), [word], list(parts.values()), show_progress="hidden")


def drawn(services: Services, sentence: Sentence, word: str) -> dict[str, Any]:
    """Both models' changes. Raises UserError where there is no word to replace, or the sentence is too long."""
    if not (word or "").strip():
        raise UserError("Write a word to replace the last one.")
    bert = changes(services.loaded(sentence.model), sentence.text, word)
    decoder = changes(services.decoder().encoder, sentence.text, word, decoder=True)
    name = services.loaded(sentence.model).spec.title
    return {
        "plot": changes_figure(bert, decoder, name, SHOWN),
        "masks": masks_figure(bert, decoder, SHOWN),
        "said": summary_html(bert, decoder, word.strip(), name, SHOWN),
        "numbers": lambda: numbers_html(bert, decoder, name),
        "program": lambda: changes_code(sentence.text, word),
    }


PART = Part(
    tab="Who sees what",
    look=(
        "The last word is replaced. In BERT this changes the states of all tokens, from layer 1 on; in the decoder, "
        "only those from the new word on, since no earlier token attends to it."
    ),
    build=build,
    order=1,
)
