"""The Transformer: encoder and decoder in one picture, and the numbers of each of its boxes at one press."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from demos.bert.attention.matrix_labels import Labels
from demos.bert.translation.bundled import bundled, read_sentence
from demos.bert.translation.decoding import LONGEST, SHOWN, TOP, step_at
from demos.bert.translation.gru import BEGIN, SPECIAL
from demos.bert.translation.transformer import HEADS, LAYERS, Written
from demos.bert.translation.transformer_places import (
    ATTENTION,
    CROSS,
    DECODER,
    EMBEDDED,
    ENCODER,
    FED,
    FED_ADDED,
    OUTPUT,
    Place,
    attended_at,
    attention_row,
    computed_at,
    places,
    row_vectors,
    translated,
)
from demos.bert.translation.translators import TRANSFORMER
from demos.figures.matrix import matrix_table
from demos.figures.strips import strips_figure, strips_table
from demos.lessons.translation.figure import alignment_figure
from demos.lessons.translation.transformer.figure import ACROSS, stacks, transformer_code
from demos.lessons.translation.wiring import english, results
from demos.page.view import Layout, On, Shown, View, drawn, index, limit, slider
from demos.templates import templates
from demos.widgets.token_picker.token_picker import picker_of

TEXT = templates(__file__)
PLACES = places(LAYERS)
OPENING = PLACES.index(Place(CROSS, LAYERS - 1))
NAMES = {ENCODER: "Self-attention", DECODER: "Masked self-attention", CROSS: "Cross-attention"}


@cache
def drawing() -> Any:
    """The picture's boxes and arrows."""
    return stacks(LAYERS)


class Transformer(View):
    tab, order, reads_sentence = "The Transformer", 4, False
    look = (
        "Read each stack from the bottom up: encoder on the left, decoder on the right. Click a box to see its "
        "numbers. Follow the arrows between the stacks: from which layer do they come, and where do they lead?"
    )

    @dataclass(frozen=True)
    class Choices:
        place: int = index(OPENING, len(PLACES))
        transformer_english: str = english("transformer-sentence")
        transformer_word: int = slider(1, LONGEST, 5, "Decoding step (row)", buttons=[], elem_id="transformer-step")
        attention_head: int = slider(1, HEADS, 1, "Head", elem_id="transformer-head")

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=5, min_width=320, elem_classes="picture"):
                at["picture"] = picker_of(at.control("place"), "Place in the Transformer", "translation-stacks")
            with gr.Column(scale=5, min_width=320):
                at.control("transformer_english")
                with gr.Row():
                    at.control("transformer_word")
                    at.control("attention_head")
                at.look()
                at["said"] = gr.HTML("", elem_id="transformer-said", elem_classes="said")
        at.plot("plot", "Attention weights at this place", elem_id="transformer-weights")
        at.plot(
            "strips", "The vectors at this place", elem_id="transformer-vectors", visible=False
        )  # a separate plot: Plotly does not turn a figure of the one kind into one of the other
        at.folds("Translates with the Transformer, with torch alone")

    @drawn(limits=("transformer_word",))
    def draw(self, on: On, c: Choices) -> Shown:
        """One sentence, a place and a row."""
        source = read_sentence(c.transformer_english)
        written, encoded, computed = on.services.shared(results)(translated, TRANSFORMER, source)
        decoder_words = [SPECIAL[BEGIN], *written[:-1]]
        chosen, number = PLACES[c.place], step_at(c.transformer_word, written)
        likeliest = next_words(computed, number)
        table: Callable[[], str]
        changes: Shown = {
            "picture": TEXT.picture(
                drawing(), ACROSS, c.place, source, decoder_words[: number + 1], likeliest[0][0], likeliest[0][2]
            ),
            "transformer_word": limit(maximum=len(written), value=number + 1),
            "program": lambda: transformer_code(source),
        }
        asks = source if chosen.kind == ENCODER else decoder_words
        row_number = min(number, len(asks) - 1)
        if chosen.step == ATTENTION:
            # the last input of the output's vector
            shown = Place(CROSS, LAYERS - 1) if chosen.kind == OUTPUT else chosen
            answers = decoder_words if shown.kind == DECODER else source
            row = attention_row(attended_at(shown, encoded, computed), c.attention_head - 1, row_number, answers)
            figure = alignment_figure(answers, asks, row.weights, (), row_number)
            changes |= {"plot": gr.update(value=figure, visible=True), "strips": gr.update(visible=False)}
            table = partial(matrix_table, row.weights, labels(asks), labels(answers), "Attention weights")
            changes["said"] = TEXT.attention(
                f"{NAMES[shown.kind]}, {'encoder' if shown.kind == ENCODER else 'decoder'} layer {shown.layer + 1}",
                *origins(shown),
                row,
                asks[row_number],
                c.attention_head,
                HEADS,
                shown.kind == DECODER,
            )
            if chosen.kind == OUTPUT:
                states = computed.layers[-1].output[0, number]
                changes["said"] = TEXT.output(
                    number + 1,
                    decoder_words[: number + 1],
                    len(states),
                    states[:SHOWN].tolist(),
                    likeliest,
                    number + 1 == len(written),
                )
        else:
            vectors = row_vectors(computed_at(chosen, encoded, computed), row_number)
            strips = [(name, vectors[key]) for key, name in strip_names(chosen).items()]
            changes["said"] = said_at(chosen, asks[row_number], row_number, vectors)
            changes |= {
                "plot": gr.update(visible=False),
                "strips": gr.update(value=strips_figure(strips), visible=True),
            }
            table = partial(strips_table, strips, f"The vectors of “{asks[row_number]}”")
        changes["numbers"] = lambda: TEXT.numbers(
            table(),
            [(candidate, [f"{logit:.3f}", f"{share:.4f}"]) for candidate, logit, share in likeliest],
            sum(parameter.numel() for parameter in bundled(TRANSFORMER).model.parameters()),
        )
        return changes


def strip_names(place: Place) -> dict[str, str]:
    """The names of the vectors at a place without attention, in the order in which they are drawn."""
    if place.step == EMBEDDED:
        return {"words": "embedding × √d", "positions": "+ position", "output": "= sum"}
    if place.step == FED:
        return {"rows": "x", "before": "xW₁ + b₁", "hidden": "h = ReLU", "output": "hW₂ + b₂"}
    answer = "feed-forward" if place.step == FED_ADDED else "attention"
    return {"rows": "x", "sublayer": f"+ {answer}", "total": "= sum", "output": "LayerNorm"}


def sublayer(place: Place) -> str:
    """The name of the sublayer before an Add & Norm."""
    return "Feed-forward" if place.step == FED_ADDED else NAMES[place.kind]


def said_at(place: Place, word: str, row: int, vectors: Mapping[str, np.ndarray]) -> Markup:
    """The numbers of one row of a place that is no attention."""
    reads = place.kind == ENCODER
    stack = "encoder" if reads else "decoder"
    names = strip_names(place)

    def rows(*keys: str, **named: str) -> list[tuple[str, list[float], int]]:
        titles = {key: names[key] for key in keys} | named
        return [(name, vectors[key][:SHOWN].tolist(), len(vectors[key])) for key, name in titles.items()]

    if place.step == EMBEDDED:
        language = bundled(TRANSFORMER).source if reads else bundled(TRANSFORMER).target
        return TEXT.embedded(
            f"Embedding + position, {stack}",
            word,
            language.ids[word],
            len(language),
            "English" if reads else "French",
            row,
            rows("words", "positions", "output"),
        )
    if place.step == FED:
        hidden = vectors["hidden"]
        return TEXT.fed(
            f"Feed-forward, {stack} layer {place.layer + 1}",
            word,
            rows("rows", "before", "hidden", "output"),
            int((hidden > 0).sum()),
            len(hidden),
        )
    return TEXT.added(
        f"Add & norm after {sublayer(place).lower()}, {stack} layer {place.layer + 1}",
        word,
        rows("rows", "sublayer", "total"),
        float(vectors["mean"][0]),
        1 / float(vectors["scale"][0]),
        rows(normalized="(sum − μ) / σ", gain="× γ", offset="+ β", output="= LayerNorm"),
    )


def origins(place: Place) -> tuple[str, str]:
    """The origin of the queries, and that of the keys and values."""
    below = "the embeddings" if place.layer == 0 else f"layer {place.layer}'s output"
    if place.kind == ENCODER:
        return below, "the same vectors"
    if place.kind == DECODER:
        return f"{below} in the decoder", "the same vectors"
    return "this layer's masked self-attention, just below", f"the output of the encoder (layer {LAYERS})"


def next_words(computed: Written, number: int) -> list[tuple[str, float, float]]:
    """(French word, logit, probability), the likeliest first."""
    logits = computed.logits[0, number]
    shares = logits.softmax(-1)
    words = bundled(TRANSFORMER).target.words
    return [(words[index], logits[index].item(), shares[index].item()) for index in shares.topk(TOP).indices.tolist()]


def labels(words: Sequence[str]) -> Labels:
    """The names of a table's rows or columns."""
    return Labels(tuple(words), (False,) * len(words))
