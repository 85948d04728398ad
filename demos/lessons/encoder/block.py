"""The block: one token through attention, residual, LayerNorm, feed-forward, residual, LayerNorm, with live numbers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.ledger import clamp, layer_ledger
from demos.figures.block import block_numbers, block_picture, block_told, gelu_figure, gelu_told
from demos.figures.encoder_code import block_code
from demos.page.assets import read_asset
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.page.picker import pick
from demos.page.services import Sentence, Services


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    token, layer = page.choices["token"], page.choices["layer"]
    widest = max(spec.width for spec in services.store.catalogue.values())
    picture = gr.HTML(
        "", html_template="${value}", js_on_load=read_asset("encoder-cells.js"), apply_default_css=False,
        elem_id="encoder-block-picture", elem_classes="encoder-picture",
    )  # fmt: skip
    number = gr.Slider(
        0, widest - 1, 17, step=1, label="Follow one of its numbers (or point at the strips, click to stay)",
        elem_id="encoder-number",
    )  # fmt: skip
    said = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-block-told")
    with gr.Row(elem_classes="encoder-gelu"):
        plot = gr.Plot(show_label=False, elem_id="encoder-gelu", scale=3, min_width=330)
        curve = gr.HTML("", elem_classes="encoder-told")
    with gr.Accordion("The numbers", open=False, elem_id="encoder-block-numbers"):
        numbers = gr.HTML("")
    formula_fold("encoder-block")
    with gr.Accordion("The code", open=False, elem_id="encoder-block-code"):
        program = gr.Code("", language="python", label="Prints the norm and this number of x, T1 to T5 and H", lines=8)
    source_fold("encoder-block")
    page.keep(number=number)

    def show(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, *choices)

    page.draw(
        show,
        [token, layer, number],
        [picture, number, said, plot, curve, numbers, program],
        triggers=[number.change],
        show_progress="hidden",
    )
    picture.select(
        None, None, [number], js="() => insideBert.cells['encoder-block-picture'].number()", api_visibility="private",
        show_progress="hidden", trigger_mode="multiple",
    )  # fmt: skip


def drawn(services: Services, sentence: Sentence, token: float, layer: float, number: float) -> list[Any]:
    """The part's seven outputs. A token, layer or number beyond this sentence's or model's becomes its last one."""
    run, loaded = services.run(sentence), services.loaded(sentence.model)
    d = run.hidden_states.shape[2]
    at, one, place = clamp(layer, run.num_layers), pick(run.encoding, token), clamp(number, d)
    ledger = layer_ledger(loaded, run, at)
    return [
        block_picture(ledger, run.encoding, one, place),
        gr.update(maximum=d - 1, **({"value": place} if place != number else {})),
        block_told(ledger, run.encoding, one),
        gelu_figure(ledger, one),
        gelu_told(ledger, one),
        block_numbers(ledger, run.encoding, one),
        block_code(loaded.spec, run.encoding, at, one, place),
    ]


PART = Part(
    slug="block",
    tab="The block",
    look=(
        "Six equations from x to H, each a strip of the token’s numbers. Point at the strips: the column beside them is "
        "that one number’s whole calculation, from top to bottom."
    ),
    build=build,
)
