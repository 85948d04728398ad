"""The stack: the token's path through all layers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.residual_stream import paths
from demos.lessons.encoder.program_input import stack_code
from demos.lessons.encoder.residual_stream.figure import curves_figure, path_figure, path_summary, path_table
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts: dict[str, gr.Component] = {}
    with gr.Row(elem_classes=["encoder-steps", "encoder-pair"]):
        for name, label in (("path", "Paths of the vectors, projected"), ("curves", "Change from layer to layer")):
            with gr.Column(elem_classes="encoder-half", elem_id=f"encoder-residual_stream-{name}", min_width=320):
                parts[name] = gr.Plot(label=label, show_label=False, elem_classes="picture")
    parts["told"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-residual_stream-told")
    parts["table"], parts["program"] = folds(__file__, "Prints this token's path")
    chosen = [page.choices["token"], page.choices["layer"]]
    show = by_component(parts, partial(drawn, page.services))
    page.draw(show, chosen, list(parts.values()), show_progress="hidden")


def drawn(services: Services, sentence: Sentence, token: float, layer: float) -> dict[str, Any]:
    """The new values by component. A token or layer beyond the last one becomes the last one."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    encoding, at = run.encoding, pick(run.encoding, token)
    step, every = clamp(layer, run.num_layers), paths(run)
    return {
        "told": path_summary(every, encoding, at, step),
        "path": path_figure(every, encoding, at, step),
        "curves": curves_figure(every, encoding, at, step),
        "table": lambda: path_table(every, encoding, at),
        "program": lambda: stack_code(loaded.spec, encoding, at),
    }


PART = Part(
    tab="The stack",
    look=(
        "Each layer changes the vector of every token. Follow the chosen token from its embedding (0) to the last "
        "layer: how far its vector moves, and which vectors it becomes similar to. The bars show how much each layer "
        "changes the vector, relative to its length."
    ),
    build=build,
    order=6,
    former="stack",
)
