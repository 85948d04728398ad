"""Spans: a text's sentences packed into two segments of a fixed length, and the tokens masked in each pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.pretraining.free_labels import NOTHING
from demos.bert.pretraining.spans import Instance, document_of, other_documents, pack
from demos.errors import UserError
from demos.lessons.pretraining.spans.figure import TEXT, Drawn, masked_at, packed_html, spans_code, strips_html
from demos.lessons.pretraining.wiring import SEEDS, count_on, own_text, seed_of_draw, text_of
from demos.page.view import Layout, On, Shown, View, drawn, options

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
MASKINGS = [("static: masks drawn once (BERT)", STATIC), ("dynamic: new masks in each pass (RoBERTa)", DYNAMIC)]


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


class Spans(View):
    tab, order = "Pack spans", 7
    look = (
        "Each row is one example with two spans of text, A and B: B follows A in your text, or comes from another "
        "text. Each color is a sentence: count the sentences in each span."
    )

    @dataclass(frozen=True)
    class Choices:
        spans_text: str = own_text(OPENING, "spans-text")
        spans_seed: int = seed_of_draw(SEED, "spans-seed")
        length: int = options(
            [(str(length), length) for length in LENGTHS], LENGTHS[1], "Length in tokens", elem_id="spans-length"
        )
        masking: str = options(MASKINGS, STATIC, "Masked tokens of the first row", elem_id="spans-masking")

    def lay_out(self, at: Layout) -> None:
        at["rows"] = gr.HTML("", elem_id="spans-rows", elem_classes="picture")
        at.look()
        with gr.Row(elem_classes="spans-ask"):
            at.control("length")
            again = gr.Button("Draw again", min_width=140, elem_id="spans-again")
        at.control("spans_text")
        at.control("masking")
        at["masks"] = gr.HTML("", elem_id="spans-masks")
        with at.all_controls(set_elsewhere=True):
            seed = at.control("spans_seed")
        at.folds("Prints the spans of this draw")
        count_on(again, seed, SEEDS)

    @drawn(own_text="spans_text")
    def draw(self, on: On, c: Choices) -> Shown:
        """The instances as bars, the masks pass by pass, the table and the program."""
        key, store = on.services.key(on.sentence.model), on.services.store
        result = packed(store.tokenizer(key), text_of(on.sentence, c.spans_text), c.length, c.spans_seed)
        shown = Drawn(result.documents, result.instances, c.length)
        copies = COPIES if c.masking == STATIC else None
        places = masked_at(result.instances[0].tokens, result.instances[0], PASSES, copies, c.spans_seed)
        return {
            "rows": lambda: packed_html(shown),
            "masks": lambda: strips_html(places, result.instances[0].tokens, copies),
            "numbers": lambda: TEXT.numbers(shown.rows()),
            "program": lambda: spans_code(store.spec(key), result.documents[0], c.length, c.spans_seed),
        }
