"""Distance: the way between two words in four kinds of networks, and what is left of the gradient at its end."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.translation.bundled import read_sentence
from demos.bert.translation.gradients import factor_per_word, gradient_norms
from demos.bert.translation.grammar import held_out
from demos.bert.translation.kept import Kept
from demos.bert.translation.paths import path
from demos.bert.translation.translators import TRANSFORMER
from demos.lessons.translation.distance.figure import gradients_figure, ways
from demos.lessons.translation.distance.program import gradients_code
from demos.page.folds import folds
from demos.page.layer_head_choices import moving_slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence
from demos.templates import templates

TEXT = templates(__file__)
LISTED = 24  # held-out sentences in the menu
KINDS = {"additive": "GRU, attention", "none": "GRU, no attention", TRANSFORMER: "Transformer"}


def build(page: Page) -> None:
    """The ways beside the gradients; the table; the folds."""
    offered = [" ".join(pair.source[:-1]) for pair in held_out()[:LISTED]]
    parts: dict[str, Any] = {}
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            parts["picture"] = gr.HTML("", elem_id="distance-paths", elem_classes="picture")
            page.show_look()
        with gr.Column(scale=5, min_width=320):
            with gr.Row():
                sentence = gr.Dropdown(
                    offered, value=offered[0], label="English sentence: choose one, or type", allow_custom_value=True,
                    elem_id="distance-sentence", scale=3, min_width=200,
                )  # fmt: skip
                word = moving_slider(1, 20, 1, label="Path from word", elem_id="distance-word", scale=2, min_width=160)
            parts["plot"] = gr.Plot(
                label="Norm of the gradient of the last state by word", show_label=False, elem_id="distance-gradients"
            )
            parts["said"] = gr.HTML("", elem_id="distance-said", elem_classes="said")
    parts["table"] = gr.HTML("", elem_id="distance-table", elem_classes="said")
    parts["numbers"], parts["program"] = folds(__file__, "The same gradients, with torch alone")
    parts["choice"] = word
    page.keep(distance_english=sentence, distance_word=word)
    show = by_component(parts, partial(drawn, Kept(page.services.memory)))
    page.draw(
        show, [sentence, word], list(parts.values()), triggers=[sentence.input, word.input], show_progress="hidden"
    )


def drawn(gradients: Kept, _: Sentence, typed: str, word: Any) -> dict[str, Any]:
    """All outputs for an English sentence and the number, from 1, of a word before its last."""
    source = read_sentence(str(typed or ""))
    last = len(source) - 1
    at = min(max(int(word or 1), 1), last) - 1
    norms = {name: gradients(gradient_norms, kind, source) for kind, name in KINDS.items()}
    drawing = ways(len(source), at, last)
    fits = len(source) > 2
    rows = [(name, of[-2], of[at], factor_per_word(of) if fits else None) for name, of in norms.items()]
    longest = [path(panel.network, 0, last).steps for panel in drawing.panels]
    moved = {} if word == at + 1 else {"value": at + 1}
    return {
        "picture": TEXT.picture(drawing, source, at, last),
        "plot": gradients_figure(source, norms, at),
        "choice": gr.update(maximum=max(last, 2), **moved),
        "said": TEXT.said(source, at, rows),
        "table": TEXT.table(list(zip(drawing.panels, longest, strict=True)), len(source)),
        "numbers": lambda: TEXT.numbers(source, list(norms), list(norms.values())),
        "program": lambda: gradients_code(source),
    }


PART = Part(
    tab="Distance",
    look=(
        "Each drawing shows the path of two words until one state depends on both. Choose a nearer word: all paths but "
        "the Transformer's become shorter. The chart shows what is left of the gradient after that distance."
    ),
    build=build,
    reads_sentence=False,
    order=2,
)
