"""Spans: a text's sentences packed into two segments of a fixed length, and the tokens masked in each pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.pretraining.free_labels import NOTHING
from demos.bert.pretraining.spans import Instance, document_of, other_documents, pack
from demos.errors import UserError
from demos.lessons.pretraining.spans.figure import TEXT, Drawn, masked_at, packed_html, strips_html
from demos.lessons.pretraining.spans.program import spans_code
from demos.lessons.pretraining.wiring import SEEDS, count_on, text_of
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.seed_box.seed_box import seed_box

OPENING = (
    "The ferry leaves at seven. On most mornings six people are on board, and they all know one another. The "
    "baker brings rolls for the crew. A teacher corrects the last essays, with a pencil behind her ear. Two "
    "brothers argue about the weather. The sixth is the doctor. She reads the same book as last week. Halfway "
    "across, the engine stops. Nobody is afraid, since it does so every Tuesday. The mechanic goes below with a "
    "hammer and a prayer. After ten minutes there is a bang, then a cough, then the usual hum. The baker claps. "
    "Soon the church of the other town comes out of the fog, and everyone puts the cups away."
)
SEED = 20
LENGTHS = (32, 64, 128, 512)
PASSES, COPIES = 12, 10  # passes over the data that are drawn; copies with separate masks that BERT's program made
CACHED_TOKENIZERS = 8
STATIC, DYNAMIC = "static", "dynamic"


@dataclass(frozen=True)
class Packed:
    """The reader's document, then all others; and the instances."""

    documents: Sequence[Sequence[str]]
    instances: Sequence[Instance]


def packed(tokenizer: Any, text: str, length: int, seed: int) -> Packed:
    """The text's instances. Raises UserError for a text without a sentence, or a too long one."""
    documents = (document_of(text), *other_documents())
    counts = [*_counts(tokenizer, documents[:1]), *_counts_of_others(tokenizer)]
    if not sum(counts[0]):
        raise UserError(NOTHING)
    return Packed(documents, pack(counts, 0, length, np.random.default_rng(seed)))


def _counts(tokenizer: Any, documents: Sequence[Sequence[str]]) -> list[list[int]]:
    """The number of tokens in each sentence."""
    texts = [sentence for document in documents for sentence in document]
    ids = iter(tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])
    return [[len(next(ids)) for _ in document] for document in documents]


@lru_cache(maxsize=CACHED_TOKENIZERS)
def _counts_of_others(tokenizer: Any) -> list[list[int]]:
    return _counts(tokenizer, other_documents())


def drawn(services: Services, sentence: Sentence, text: str, length: Any, seed: Any, masking: str) -> dict[str, Any]:
    """The instances as bars, the masks pass by pass, the table and the program."""
    key, number = services.key(sentence.model), clamp(seed, SEEDS)
    chosen = int(length) if length in LENGTHS else LENGTHS[1]
    result = packed(services.store.tokenizer(key), text_of(sentence, text), chosen, number)
    shown = Drawn(result.documents, result.instances, chosen)
    copies = COPIES if masking == STATIC else None
    places = masked_at(result.instances[0].tokens, result.instances[0], PASSES, copies, number)
    return {
        "rows": lambda: packed_html(shown),
        "masks": lambda: strips_html(places, result.instances[0].tokens, copies),
        "numbers": lambda: TEXT.numbers(shown.rows()),
        "code": lambda: spans_code(services.store.spec(key), result.documents[0], chosen, number),
    }


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    rows = gr.HTML("", elem_id="spans-rows", elem_classes="picture")
    page.show_look()
    with gr.Row(elem_classes="spans-ask"):
        length = gr.Radio(list(LENGTHS), value=64, label="Length in tokens", elem_id="spans-length")
        again = gr.Button("Draw again", min_width=140, elem_id="spans-again")
    text = gr.Textbox(
        OPENING, label="Your text (if empty: the sentence at the top of the page)", lines=2, max_lines=6,
        elem_id="spans-text",
    )  # fmt: skip
    masking = gr.Radio(
        [("static: masks drawn once (BERT)", STATIC), ("dynamic: new masks in each pass (RoBERTa)", DYNAMIC)],
        value=STATIC, label="Masked tokens of the first row", elem_id="spans-masking",
    )  # fmt: skip
    masks = gr.HTML("", elem_id="spans-masks")
    with all_controls(page, __file__, set_elsewhere=True):
        seed = seed_box(SEED, "Seed of the draw", elem_id="spans-seed")
    numbers, code = folds(__file__, "Prints the spans of this draw")
    page.keep(spans_text=text, spans_seed=seed, length=length, masking=masking)
    count_on(again, seed, SEEDS)
    outputs = {"rows": rows, "masks": masks, "numbers": numbers, "code": code}
    page.draw(
        by_component(outputs, partial(drawn, page.services)),
        [text, length, seed, masking],
        list(outputs.values()),
        triggers=[text.change, seed.change, length.input, masking.input],
        show_progress="hidden",
        own_text=text,
    )


PART = Part(
    tab="Pack spans",
    look=(
        "In pre-training, a “sentence” is a span of text, usually several sentences long. Each row is one example "
        "with two spans: the second follows the first in your text, or comes from another text."
    ),
    build=build,
    order=7,
)
