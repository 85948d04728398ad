"""The block: one token through attention, residual, LayerNorm, feed-forward, residual, LayerNorm, with live numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.layer_trace import LayerLedger, layer_ledger
from demos.bert.model.encoding import Encoding
from demos.lessons.encoder.block.figure import block_numbers, block_picture, block_summary, gelu_figure, gelu_summary
from demos.lessons.encoder.program_layer import block_code
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp, moving_slider, slider
from demos.page.lesson import IN_BROWSER, Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.number_strips.number_strips import cells_picture, chosen_in
from demos.widgets.token_picker.token_picker import pick


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    token, layer = page.choices["token"], page.choices["layer"]
    picture = cells_picture("encoder-block-picture", "encoder-token", elem_classes="picture")
    number = moving_slider(
        0, max(spec.width for spec in services.store.catalogue.values()) - 1, 17, elem_id="encoder-number",
        label="Dimension to follow (or point at the strips; click to keep it)",
    )  # fmt: skip
    parts: dict[str, gr.Component] = {"picture": picture, "number": number}
    summary = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-block-told")
    with gr.Row(elem_classes="encoder-gelu"):
        plot = gr.Plot(
            label="GELU and this token’s units", show_label=False, elem_id="encoder-gelu", scale=3, min_width=330
        )
        curve = gr.HTML("", elem_classes="encoder-told")
    numbers, parts["program"] = folds(__file__, "Prints the norm and the chosen number of x, T1 to T5, H")
    unnumbered: dict[str, gr.Component] = {"said": summary, "plot": plot, "curve": curve, "numbers": numbers}
    page.keep(number=number)

    page.draw(
        by_component(parts, partial(stepped, services)),
        [token, layer, number],
        list(parts.values()),
        triggers=[number.change],
        show_progress="hidden",
    )
    show = by_component(unnumbered, partial(same_for_all_numbers, services))
    page.draw(show, [token, layer], list(unnumbered.values()), show_progress="hidden")
    picture.select(None, None, [number], js=chosen_in("encoder-block-picture"), **IN_BROWSER)


def stepped(services: Services, sentence: Sentence, token: float, layer: float, number: float) -> dict[str, Any]:
    """The outputs that depend on the chosen dimension. A choice beyond this sentence or model becomes its last one."""
    ledger, encoding, token = _ledger(services, sentence, token, layer)
    d = ledger.block.x.shape[1]
    place = clamp(number, d)
    return {
        "picture": block_picture(ledger, encoding, token, place),
        "number": slider(number, d),
        "program": lambda: block_code(services.loaded(sentence.model).spec, encoding, ledger.layer, token, place),
    }


def same_for_all_numbers(services: Services, sentence: Sentence, token: float, layer: float) -> dict[str, Any]:
    """The outputs that no choice of a dimension changes: the picture's sentences, GELU, and the tables."""
    ledger, encoding, token = _ledger(services, sentence, token, layer)
    return {
        "said": block_summary(ledger, encoding, token),
        "plot": gelu_figure(ledger, token),
        "curve": gelu_summary(ledger, token),
        "numbers": lambda: block_numbers(ledger, encoding, token),
    }


def _ledger(services: Services, sentence: Sentence, token: float, layer: float) -> tuple[LayerLedger, Encoding, int]:
    """The ledger of the chosen layer, the input, and the chosen token."""
    run = services.run(sentence)
    ledger = layer_ledger(services.loaded(sentence.model), run, clamp(layer, run.num_layers))
    return ledger, run.encoding, pick(run.encoding, token)


PART = Part(
    tab="The block",
    look=(
        "One layer is six equations, from its input x to its output H. Each strip shows the token’s vector "
        "after one step. Point at a strip: the column next to it shows the whole calculation for that dimension, "
        "from top to bottom."
    ),
    build=build,
    order=5,
)
