"""How BERT was pre-trained: the text, a sequence, the two losses of a real batch and their sum, and what it took."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.pretraining.spans import document_of, other_documents
from demos.files import read_beside
from demos.lessons.pretraining.original_run.figure import (
    Shown,
    costs_html,
    counting_html,
    data_html,
    losses_html,
    numbers_html,
    sequence_html,
)
from demos.lessons.pretraining.original_run.program import losses_code
from demos.lessons.pretraining.wiring import SEEDS, count_on, text_of
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.training.pretraining.packed import batch_losses, packed_batch
from demos.widgets.seed_box.seed_box import seed_box

OPENING = read_beside(__file__, "document.txt").strip()
SEED = 3  # a draw whose first sequence fills 512 tokens, with both labels in the batch
LENGTHS = (128, 512)
SEQUENCES = 4  # of the batch; BERT's has 256


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    with gr.Row(elem_id="pretraining-original_run-picture", elem_classes=["run", "picture"]):
        with gr.Column(min_width=320):
            gr.HTML(data_html())
            with gr.Row(elem_classes="run-ask"):
                length = gr.Radio(
                    list(LENGTHS), value=LENGTHS[-1], label="Tokens in a sequence", elem_id="original_run-length"
                )
                again = gr.Button("Draw again", min_width=120, elem_id="original_run-again")
            losses = gr.HTML("", elem_id="original_run-losses")
        with gr.Column(min_width=320):
            sequence = gr.HTML("", elem_id="original_run-sequence")
            gr.HTML(costs_html(), elem_id="original_run-costs")
    page.show_look()
    text = gr.Textbox(
        OPENING, label="Your text (if empty: the sentence at the top of the page)", lines=2, max_lines=6,
        elem_id="original_run-text",
    )  # fmt: skip
    gr.HTML(counting_html(), elem_id="original_run-counting", elem_classes="said")
    with all_controls(page, __file__, set_elsewhere=True):
        seed = seed_box(SEED, "Seed of the draw", elem_id="original_run-seed")
    numbers, code = folds(__file__, "Prints both losses of this batch, and their sum")
    page.keep(run_text=text, run_seed=seed, run_length=length)
    count_on(again, seed, SEEDS)
    outputs = {"sequence": sequence, "losses": losses, "numbers": numbers, "code": code}
    page.draw(
        by_component(outputs, partial(drawn, page.services)),
        [text, length, seed],
        list(outputs.values()),
        triggers=[text.change, seed.change, length.input],
        show_progress="hidden",
        own_text=text,
    )


def drawn(services: Services, sentence: Sentence, text: str, length: Any, seed: Any) -> dict[str, Any]:
    """The four panels, every chosen token, and the program."""
    shown = batch_shown(services, sentence, text, length, seed)
    spec = services.pretrained(sentence.model).encoder.spec
    return {
        "sequence": lambda: sequence_html(shown),
        "losses": lambda: losses_html(shown),
        "numbers": lambda: numbers_html(shown),
        "code": lambda: losses_code(spec, [sequence.instance for sequence in shown.batch]),
    }


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


PART = Part(
    tab="How BERT was pre-trained",
    look=(
        "Each step took a batch of sequences and added two losses: the mean over the masked words, and the mean over "
        "the pairs of spans. Draw again, or use a text of your own: both losses and their sum change."
    ),
    build=build,
    order=4,
)
