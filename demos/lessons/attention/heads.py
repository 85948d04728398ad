"""One head: where each token looks, in bertviz's three views and as numbers."""

from __future__ import annotations

import html
from typing import Any

import gradio as gr

from demos.bert.attention import queries_and_keys
from demos.figures.attention import heatmap, told, weights_table
from demos.figures.bertviz import VIEWS, Held, frame_message
from demos.figures.bertviz import told as told_of_view
from demos.figures.code import attention_code
from demos.page.folds import formula_fold, source_fold
from demos.page.frame import bertviz_frame, frame_value
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence, Services

TABLE_TOKENS = 64  # rows and columns; more is no table to read, and half a megabyte of it
HINTS = {
    "head": (
        "Hover over a token to see where it looks, or, on the right, what looks at it. Click a colour to switch a head "
        "on or off; double-click to see that head alone, here and in the heatmap."
    ),
    "model": "Every head of every layer. Click a small picture to open it, here and in the heatmap.",
    "neuron": (
        "Hover over a token to see where it looks; the + beside it opens its query and keys, number by number: "
        "blue is positive, orange negative."
    ),
}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    catalogue = services.store.catalogue.values()
    with gr.Row():
        view = gr.Radio(
            [(view.title, view.name) for view in VIEWS.values()],
            value="head",
            label="View",
            elem_id="attention-view",
            scale=2,
            min_width=330,
        )
        layer = gr.Slider(
            0,
            max(spec.num_layers for spec in catalogue) - 1,
            value=0,
            step=1,
            label="Layer (0 is the first)",
            elem_id="attention-layer",
            min_width=220,
        )
        head = gr.Slider(
            0,
            max(spec.num_heads for spec in catalogue) - 1,
            value=2,
            step=1,
            label="Head (0 is the first)",
            elem_id="attention-head",
            min_width=220,
        )
    with gr.Row(elem_classes="attention-views"):
        with gr.Column(elem_id="attention-frame"):
            frame = bertviz_frame("bertviz: attention as lines between tokens", elem_id="attention-bertviz")
            caption = gr.HTML("", elem_classes="attention-caption")
        with gr.Column(elem_id="attention-heatmap"):
            plot = gr.Plot(show_label=False)
            said = gr.HTML("", elem_classes="attention-told")
    held = gr.Textbox("", visible="hidden")
    with gr.Accordion("The numbers", open=False, elem_id="attention-numbers"):
        table = gr.HTML("")
    formula_fold("attention")
    with gr.Accordion("The code", open=False, elem_id="attention-code"):
        program = gr.Code("", language="python", label="Prints this head's weights", lines=8)
    source_fold("attention")

    def show(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, False, *choices)

    def follow(sentence: Sentence, *choices: Any) -> list[Any]:
        return drawn(services, sentence, True, *choices)

    inputs = [view, layer, head, held]
    outputs = [frame, held, layer, head, plot, said, caption, table, program]
    page.keep(view=view, layer=layer, head=head)
    page.draw(show, inputs, outputs, triggers=[view.input, layer.input, head.input], show_progress="hidden")
    page.on(
        [frame.select],  # a layer or head was picked inside the frame
        with_sentence(follow),
        [*page.sentence, *inputs],
        outputs,
        js="(...values) => insideBert.attention.chosen(values)",
        trigger_mode="always_last",
        show_progress="hidden",
    )


def drawn(
    services: Services, sentence: Sentence, follow: bool, view: str, layer: float, head: float, held: str
) -> list[Any]:
    """The lesson's nine outputs. A layer or head beyond this model's becomes its last one.

    `held` is what the frame has already. With `follow`, layer and head came from the frame and move the sliders.
    """
    run = services.run(sentence)
    loaded = services.loaded(sentence.model)
    shape = VIEWS.get(view, VIEWS["head"])
    at = min(max(int(layer or 0), 0), run.num_layers - 1)
    one = min(max(int(head or 0), 0), run.num_heads - 1)
    message, now_held = frame_message(
        run, shape, at, one, lambda index: queries_and_keys(loaded, run, index), Held.read(held)
    )
    n = min(len(run.encoding), shape.limit)
    weights = run.attentions[at, one, :n, :n]
    few = weights[:TABLE_TOKENS, :TABLE_TOKENS]
    title = f"Attention weights of layer {at}, head {one}"
    if len(few) < len(run.encoding):
        title += f", the first {len(few)} of {len(run.encoding)} tokens"
    return [
        frame_value(message),
        now_held.say(),
        _slider(at, layer, run.num_layers, follow),
        _slider(one, head, run.num_heads, follow),
        heatmap(weights, run.encoding),
        told(run.attentions[at, one], run.encoding, at, one),
        "".join(f"<p>{html.escape(line)}</p>" for line in (HINTS[shape.name], " ".join(told_of_view(run, shape)))),
        weights_table(few, run.encoding, title),
        attention_code(loaded.spec, run.encoding, at, one),
    ]


def _slider(value: int, asked: float, count: int, move: bool) -> Any:
    """The slider's new end; its value only where it must move, so that it stays under the hand that drags it."""
    return gr.update(maximum=count - 1, **({"value": value} if move or value != asked else {}))


PART = Part(
    slug="one",
    tab="One head",
    look=(
        "Each line runs from a token on the left to one it takes from on the right; the stronger the line, the more it "
        "takes."
    ),
    build=build,
)
