"""The stack: the token's path through all layers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.residual_stream import paths
from demos.lessons.encoder.program_input import stack_code
from demos.lessons.encoder.residual_stream.figure import curves_figure, path_figure
from demos.lessons.encoder.residual_stream.text import path_table, path_told
from demos.page.folds import formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    told = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-residual_stream-told")
    with gr.Row(elem_classes=["encoder-steps", "encoder-pair"]):
        with gr.Column(elem_classes="encoder-half", elem_id="encoder-residual_stream-path", min_width=320):
            path = gr.Plot(show_label=False)
        with gr.Column(elem_classes="encoder-half", elem_id="encoder-residual_stream-curves", min_width=320):
            curves = gr.Plot(show_label=False)
    with gr.Accordion("The numbers", open=False, elem_id="encoder-residual_stream-numbers"):
        table = gr.HTML("")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="encoder-residual_stream-code"):
        program = gr.Code("", language="python", label="Prints this token's path", lines=8)
    source_fold(__file__)

    chosen = [page.choices["token"], page.choices["layer"]]
    page.draw(partial(drawn, services), chosen, [told, path, curves, table, program], show_progress="hidden")


def drawn(services: Services, sentence: Sentence, token: float, layer: float) -> list[Any]:
    """The part's five outputs. A token or layer beyond what there is becomes the last one."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    encoding, at = run.encoding, pick(run.encoding, token)
    step = clamp(layer, run.num_layers)
    found = paths(run)
    return [
        path_told(found, encoding, at, step),
        path_figure(found, encoding, at, step),
        curves_figure(found, encoding, at, step),
        path_table(found, encoding, at),
        stack_code(loaded.spec, encoding, at),
    ]


PART = Part(
    tab="The stack",
    look=(
        "Each layer changes every token's vector; the text below says by what share of its length. "
        "Follow the chosen one from its embedding (0) to the last layer: how far it goes from where it began, "
        "and which vectors it comes to resemble."
    ),
    build=build,
    order=5,
    former="stack",
)
