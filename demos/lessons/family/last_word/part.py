"""Tab "Who sees what": the states that change with the last word, in BERT and in the decoder, layer by layer."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.causal.last_word import changes
from demos.errors import UserError
from demos.lessons.family.last_word.figure import changes_code, changes_figure, masks_figure, numbers_html, summary_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, words
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

SHOWN = 24  # tokens in the picture, the last ones


class LastWord(View):
    tab, order = "Who sees what", 1
    look = (
        "The last word is replaced. Compare BERT and the decoder: which tokens' states change, and from which layer on?"
    )

    @dataclass(frozen=True)
    class Choices:
        other_word: str = words("cake", "Replace the last word with", max_lines=1, elem_id="last-word-word")

    def lay_out(self, at: Layout) -> None:
        picture = {"elem_id": "last-word-changes", "elem_classes": "picture attention-heatmap"}
        with gr.Row(elem_classes="last-word-views"):
            with gr.Column(scale=6, min_width=320, **picture):
                at.plot("plot", "Change of each state with the last word")
                with takeaway_row("Download the picture:"):
                    picture_buttons("#last-word-changes", "bert-decoder-last-word")
            with gr.Column(scale=4, min_width=320):
                at.control("other_word")
                at.look()
                at["said"] = gr.HTML("", elem_id="last-word-said")
                at.plot("masks", "Which tokens each token attends to")
        at.folds("The decoder's states before and after")

    def draw(self, on: On, c: Choices) -> Shown:
        """Both models' changes. Raises UserError if there is no word to replace, or the sentence is too long."""
        word, text = c.other_word.strip(), on.sentence.text
        if not word:
            raise UserError("Write a word to replace the last one.")
        bert = changes(on.loaded, text, c.other_word)
        decoder = changes(on.services.decoder().encoder, text, c.other_word, decoder=True)
        name = on.loaded.spec.title
        return {
            "plot": changes_figure(bert, decoder, name, SHOWN),
            "masks": masks_figure(bert, decoder, SHOWN),
            "said": summary_html(bert, decoder, word, name, SHOWN),
            "numbers": lambda: numbers_html(bert, decoder, name),
            "program": lambda: changes_code(text, c.other_word),
        }


def answer(services: Services, sentence: Sentence, other_word: str) -> Answer:
    """In the decoder and in BERT, after the last layer."""
    bert = changes(services.loaded(sentence.model), sentence.text, other_word)
    decoder = changes(services.decoder().encoder, sentence.text, other_word, decoder=True)
    before = bert.replaced[0] if bert.replaced else len(bert.encoding)
    facts = {"before": before, "bert": bert.changed(before), "changed": decoder.changed(before)}
    return Answer(facts=facts | {"other": other_word})
