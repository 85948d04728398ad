"""Model size: parameters by part, for the selected model, for the known BERTs, and for one's own L, d and A."""

import json
from dataclasses import dataclass

import gradio as gr

from demos.bert.encoder.other_sizes import OTHERS
from demos.bert.encoder.size import KNOWN, Shape, count_parameters, shape_of
from demos.lessons.encoder.size.figure import (
    TEXT,
    beside,
    models_table,
    parts_table,
    size_code,
    size_summary,
    treemap,
)
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, options, slider

IN_USE, OWN = "in use", "own"
KNOWN_NAMES = [(shape.name.removeprefix("BERT "), shape.name) for shape in KNOWN]
SIZES = [("the selected model", IN_USE), *KNOWN_NAMES, ("your own", OWN)]


class Size(View):
    tab, order, reads_sentence = "Size", 7, False
    look = (
        "The size of each area shows one part's share of the model's parameters. Change L, d and A: which of them adds "
        "the most parameters, and which adds none?"
    )

    @dataclass(frozen=True)
    class Choices:
        size: str = options(SIZES, IN_USE, "Model size", by_script=True, elem_id="encoder-which")
        size_layers: int = slider(1, 48, 6, "L: layers", by_script=True, elem_id="encoder-size-layers")
        size_width: int = slider(64, 2_048, 384, "d: width (H in BERT's paper)", step=64, by_script=True)
        size_heads: int = slider(1, 32, 12, "A: heads in each layer", by_script=True)
        size_tokens: int = slider(1, 512, 128, "Tokens in the input")

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="encoder-size"):
            with gr.Column(scale=3, min_width=340):
                at.plot("picture", "Parameters by part of the model", elem_id="encoder-treemap", elem_classes="picture")
                at["models"] = gr.HTML("")
            with gr.Column(scale=2, min_width=320):
                size, *numbers = map(at.control, ("size", "size_layers", "size_width", "size_heads"))
                at["summary"] = gr.HTML("", elem_classes="encoder-told")
                at.look()
                with at.all_controls():
                    at.control("size_tokens")
        gr.HTML(TEXT.others(OTHERS), elem_id="encoder-size-others")
        gr.HTML(TEXT.changed(), elem_id="encoder-size-changed")
        at.folds("Builds this configuration and counts its parameters")
        in_use = at["in_use"] = gr.Textbox("", visible="hidden")
        known = {shape.name: [shape.layers, shape.width, shape.heads] for shape in KNOWN}
        filled = (
            f"(size, inUse, ...now) => ({json.dumps(known)})[size]"
            f" ?? (size === {IN_USE!r} && inUse ? JSON.parse(inUse) : now)"
        )
        gr.on([size.change, in_use.change], None, [size, in_use, *numbers], numbers, js=filled, **IN_BROWSER)
        gr.on([number.input for number in numbers], None, None, [size], js=f"() => {OWN!r}", **IN_BROWSER)

    def draw(self, on: On, c: Choices) -> Shown:
        in_use = shape_of(on.loaded.spec.title, on.loaded.model)
        if c.size == OWN:
            shape = Shape("Your own", c.size_layers, c.size_width, c.size_heads)
        else:
            shape = next((shape for shape in KNOWN if shape.name == c.size), in_use)
        shape.check()
        return {
            "picture": treemap(shape),
            "summary": size_summary(shape, c.size_tokens),
            "models": models_table(beside(shape), c.size_tokens),
            "in_use": json.dumps([in_use.layers, in_use.width, in_use.heads]),
            "numbers": lambda: parts_table(count_parameters(shape)),
            "program": lambda: size_code(shape),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The size of the reader's model."""
    model = services.loaded(sentence.model).model
    config = model.config
    return Answer(
        facts={
            "parameters": f"{sum(weights.numel() for weights in model.parameters()):,}",
            "layers": config.num_hidden_layers,
            "width": config.hidden_size,
            "heads": config.num_attention_heads,
            "head_width": config.hidden_size // config.num_attention_heads,
        }
    )
