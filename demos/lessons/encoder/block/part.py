"""The block: one token through attention, residual, LayerNorm, feed-forward, residual, LayerNorm, with live numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.model.run import Run
from demos.lessons.encoder.block.figure import block_numbers, block_picture, block_told, gelu_figure, gelu_told
from demos.lessons.encoder.program_layer import block_code
from demos.page.folds import formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services
from demos.widgets.number_strips.number_strips import cells_picture, chosen_in
from demos.widgets.token_picker.token_picker import pick


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    token, layer = page.choices["token"], page.choices["layer"]
    widest = max(spec.width for spec in services.store.catalogue.values())
    picture = cells_picture("encoder-block-picture", "encoder-token")
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
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="encoder-block-code"):
        program = gr.Code("", language="python", label="Prints the norm and this number of x, T1 to T5 and H", lines=8)
    source_fold(__file__)
    page.keep(number=number)

    page.draw(
        partial(stepped, services),
        [token, layer, number],
        [picture, number, program],
        triggers=[number.change],
        show_progress="hidden",
    )
    outputs = [said, plot, curve, numbers]  # these know no number
    page.draw(partial(told, services), [token, layer], outputs, show_progress="hidden")
    picture.select(
        None,
        None,
        [number],
        js=chosen_in("encoder-block-picture"),
        api_visibility="private",
        show_progress="hidden",
        trigger_mode="multiple",
    )


def stepped(services: Services, sentence: Sentence, token: float, layer: float, number: float) -> list[Any]:
    """Picture, slider and program. A token, layer or number beyond this sentence's or model's becomes its last one."""
    run, layer, token = _meant(services, sentence, token, layer)
    loaded = services.loaded(sentence.model)
    d = run.hidden_states.shape[2]
    place = clamp(number, d)
    return [
        block_picture(layer_ledger(loaded, run, layer), run.encoding, token, place),
        gr.update(maximum=d - 1, **({"value": place} if place != number else {})),
        block_code(loaded.spec, run.encoding, layer, token, place),
    ]


def told(services: Services, sentence: Sentence, token: float, layer: float) -> list[Any]:
    """What is said of the picture, the plot of GELU, what is said of that, and the tables."""
    run, layer, token = _meant(services, sentence, token, layer)
    ledger = layer_ledger(services.loaded(sentence.model), run, layer)
    return [
        block_told(ledger, run.encoding, token),
        gelu_figure(ledger, token),
        gelu_told(ledger, token),
        block_numbers(ledger, run.encoding, token),
    ]


def _meant(services: Services, sentence: Sentence, token: float, layer: float) -> tuple[Run, int, int]:
    """The run, and the layer and token that are meant."""
    run = services.run(sentence)
    return run, clamp(layer, run.num_layers), pick(run.encoding, token)


PART = Part(
    tab="The block",
    look=(
        "Six equations from x to H, each a strip of the token’s numbers. Point at the strips: the column beside them "
        "is that one number’s whole calculation, from top to bottom."
    ),
    build=build,
    order=4,
)
