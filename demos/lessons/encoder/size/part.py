"""Model size: parameters by part, for the selected model, for the known BERTs, and for one's own L, d and A."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.encoder.size import KNOWN, Shape, count_parameters, shape_of
from demos.lessons.encoder.size.figure import (
    beside,
    changed_html,
    models_table,
    others_html,
    parts_table,
    size_code,
    size_summary,
    treemap,
)
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part, with_sentence
from demos.page.services import Sentence

IN_USE, OWN = "in use", "own"
MOST = {"layers": 48, "width": 2_048, "heads": 32}


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    known = [(shape.name.removeprefix("BERT "), shape.name) for shape in KNOWN]
    with gr.Row(elem_classes="encoder-size"):
        with gr.Column(scale=3, min_width=340):
            picture = gr.Plot(
                label="Parameters by part of the model",
                show_label=False,
                elem_id="encoder-treemap",
                elem_classes="picture",
            )
            models = gr.HTML("")
        with gr.Column(scale=2, min_width=320):
            which = gr.Radio(
                [("the selected model", IN_USE), *known, ("your own", OWN)], value=IN_USE, label="Model size",
                elem_id="encoder-which",
            )  # fmt: skip
            layers = gr.Slider(1, MOST["layers"], 6, step=1, label="L: layers", elem_id="encoder-size-layers")
            width = gr.Slider(64, MOST["width"], 384, step=64, label="d: width (H in BERT's paper)")
            heads = gr.Slider(1, MOST["heads"], 12, step=1, label="A: heads in each layer")
            summary = gr.HTML("", elem_classes="encoder-told")
            page.show_look()
            with all_controls(page, __file__):
                tokens = gr.Slider(1, 512, 128, step=1, label="Tokens in the input")
    gr.HTML(others_html(), elem_id="encoder-size-others")
    gr.HTML(changed_html(), elem_id="encoder-size-changed")
    parts, program = folds(__file__, "Builds this configuration and counts its parameters")
    page.keep(size=which, size_layers=layers, size_width=width, size_heads=heads, size_tokens=tokens)

    def shown(shape: Shape, tokens: float) -> dict[gr.Component, Any]:
        shape.check()
        length = int(tokens or 1)
        return {
            picture: treemap(shape),
            summary: size_summary(shape, length),
            models: models_table(beside(shape), length),
            parts: parts_table(count_parameters(shape)),
            program: size_code(shape),
        }

    def own(layers: float, width: float, heads: float) -> Shape:
        return Shape("Your own", int(layers or 1), int(width or 1), int(heads or 1))

    def pick(sentence: Sentence, which: str, *sizes: float) -> dict[gr.Component, Any]:
        *chosen, length = sizes
        if which == OWN:
            return shown(own(*chosen), length)
        if which == IN_USE:
            loaded = page.services.loaded(sentence.model)
            shape = shape_of(loaded.spec.title, loaded.model)
        else:
            shape = next(shape for shape in KNOWN if shape.name == which)
        return {layers: shape.layers, width: shape.width, heads: shape.heads, **shown(shape, length)}

    def move(_sentence: Sentence, *sizes: float) -> dict[gr.Component, Any]:
        *chosen, length = sizes
        return {which: OWN, **shown(own(*chosen), length)}

    outputs = [picture, summary, models, parts, program]
    sliders = [layers, width, heads]
    page.draw(pick, [which, *sliders, tokens], [*sliders, *outputs], triggers=[which.input, tokens.input])
    page.on(
        [slider.input for slider in sliders],
        with_sentence(move),
        [*page.sentence, *sliders, tokens],
        [which, *outputs],
        trigger_mode="always_last",
        show_progress="hidden",
    )


PART = Part(
    tab="Size",
    look=(
        "The size of each area shows one part's share of the model's parameters. Change L, d and A: which of them adds "
        "the most parameters, and which adds none?"
    ),
    build=build,
    reads_sentence=False,
    order=7,
)
