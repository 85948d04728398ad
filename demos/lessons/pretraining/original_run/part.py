"""BERT's pre-training: the text, a sequence, the two losses of a real batch and their sum, and the cost of the run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.bert.pretraining.spans import document_of, other_documents
from demos.files import read_beside
from demos.lessons.pretraining.original_run.figure import (
    Shown,
    costs_html,
    counting_html,
    data_html,
    losses_code,
    losses_html,
    numbers_html,
    sequence_html,
)
from demos.lessons.pretraining.wiring import SEEDS, count_on, own_text, seed_of_draw, text_of
from demos.page.layer_head_choices import clamp
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, View, drawn, options
from demos.training.pretraining.packed import batch_losses, packed_batch

OPENING = read_beside(__file__, "document.txt").strip()
SEED = 3  # a draw whose first sequence fills 512 tokens, with both labels in the batch
LENGTHS = (128, 512)
SEQUENCES = 4  # of the batch; BERT's has 256


def batch_shown(services: Services, sentence: Sentence, text: str, length: Any, seed: Any) -> Shown:
    """A batch that begins with the reader's own text, and its losses. Raises UserError for a text without a word."""
    pretrained = services.pretrained(sentence.model)
    most = int(length) if length in LENGTHS else LENGTHS[-1]
    document = document_of(text_of(sentence, text))
    pairs = pretrained.relation is not None
    batch = packed_batch(pretrained.tokenizer, document, most, SEQUENCES, clamp(seed, SEEDS), pairs)
    losses = batch_losses(pretrained, batch)
    documents = (document, *other_documents())
    return Shown(batch, losses, most, pretrained.encoder.spec.title, pretrained.tokenizer, documents)


class OriginalRun(View):
    tab, order = "How BERT was pre-trained", 4
    look = (
        "The picture shows the text of the pre-training, one sequence of it, and the loss of one batch. Draw again, or "
        "use a text of your own, and see what the loss consists of."
    )

    @dataclass(frozen=True)
    class Choices:
        run_text: str = own_text(OPENING, "original_run-text")
        run_seed: int = seed_of_draw(SEED, "original_run-seed")
        run_length: int = options(
            [(str(length), length) for length in LENGTHS],
            LENGTHS[-1],
            "Tokens in a sequence",
            elem_id="original_run-length",
        )

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_id="pretraining-original_run-picture", elem_classes=["run", "picture"]):
            with gr.Column(min_width=320):
                gr.HTML(data_html())
                with gr.Row(elem_classes="run-ask"):
                    at.control("run_length")
                    again = gr.Button("Draw again", min_width=120, elem_id="original_run-again")
                at["losses"] = gr.HTML("", elem_id="original_run-losses")
            with gr.Column(min_width=320):
                at["sequence"] = gr.HTML("", elem_id="original_run-sequence")
                gr.HTML(costs_html(), elem_id="original_run-costs")
        at.look()
        at.control("run_text")
        gr.HTML(counting_html(), elem_id="original_run-counting", elem_classes="said")
        with at.all_controls(set_elsewhere=True):
            seed = at.control("run_seed")
        at.folds("Prints both losses of this batch, and their sum")
        count_on(again, seed, SEEDS)

    @drawn(own_text="run_text")
    def draw(self, on: On, c: Choices) -> dict[str, Callable[[], str]]:
        """The four panels, every chosen token, and the program."""
        shown = batch_shown(on.services, on.sentence, c.run_text, c.run_length, c.run_seed)
        spec = on.services.pretrained(on.sentence.model).encoder.spec
        return {
            "sequence": lambda: sequence_html(shown),
            "losses": lambda: losses_html(shown),
            "numbers": lambda: numbers_html(shown),
            "program": lambda: losses_code(spec, [sequence.instance for sequence in shown.batch]),
        }
