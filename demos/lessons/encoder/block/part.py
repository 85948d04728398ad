"""The block: one token through attention, residual, LayerNorm, feed-forward, residual, LayerNorm, with live numbers."""

from dataclasses import dataclass

import gradio as gr
import numpy as np

from demos.bert.encoder.layer_trace import layer_ledger
from demos.lessons.encoder.block.figure import block_numbers, block_picture, block_summary, gelu_figure, gelu_summary
from demos.lessons.encoder.choices import PICKER, OfLayer, OfToken
from demos.lessons.encoder.program_layer import block_code
from demos.page.layer_head_choices import clamp
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, place
from demos.widgets.number_strips.number_strips import cells_picture, chosen_in
from demos.widgets.token_picker.token_picker import pick

PICTURE = "encoder-block-picture"


class Block(View):
    tab, order = "The block", 5
    look = (
        "One layer is six equations, from its input x to its output H. Each strip shows the token’s vector "
        "after one step. Point at a strip: the column next to it shows the whole calculation for that dimension, "
        "from top to bottom."
    )

    @dataclass(frozen=True)
    class Choices(OfLayer, OfToken):
        number: int = place(
            lambda on: on.loaded.spec.width,
            lambda services: max(spec.width for spec in services.store.catalogue.values()),
            17,
            "Dimension to follow (or point at the strips; click to keep it)",
            elem_id="encoder-number",
            by_script=True,
        )

    def lay_out(self, at: Layout) -> None:
        picture = at["picture"] = cells_picture(PICTURE, PICKER, elem_classes="picture")
        number = at.control("number")
        at["said"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-block-told")
        with gr.Row(elem_classes="encoder-gelu"):
            at.plot("plot", "GELU and this token’s units", elem_id="encoder-gelu", scale=3, min_width=330)
            at["curve"] = gr.HTML("", elem_classes="encoder-told")
        at.folds("Prints the norm and the chosen number of x, T1 to T5, H")
        picture.select(None, None, [number], js=chosen_in(PICTURE), **IN_BROWSER)

    def draw(self, on: On, c: Choices) -> Shown:
        ledger = layer_ledger(on.loaded, on.run, c.layer)
        return {
            "picture": block_picture(ledger, on.encoding, c.token, c.number),
            "program": lambda: block_code(on.loaded.spec, on.encoding, c.layer, c.token, c.number),
        }

    @drawn("said", "plot", "curve", "numbers", by=("token", "layer"))
    def draw_rest(self, on: On, c: Choices) -> Shown:
        """No choice of a dimension changes these: the picture's sentences, GELU, and the tables."""
        ledger = layer_ledger(on.loaded, on.run, c.layer)
        return {
            "said": block_summary(ledger, on.encoding, c.token),
            "plot": gelu_figure(ledger, c.token),
            "curve": gelu_summary(ledger, c.token),
            "numbers": lambda: block_numbers(ledger, on.encoding, c.token),
        }


def answer(services: Services, sentence: Sentence, token: float, layer: float) -> Answer:
    """The lengths of T1 and T4 of one token."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    block = layer_ledger(services.loaded(sentence.model), run, clamp(layer, run.num_layers)).block
    entering, attention, feed = (float(np.linalg.norm(rows[at])) for rows in (block.x, block.t1, block.t4))
    key = "same" if attention == feed else "attention" if attention > feed else "feed"
    facts = {"piece": run.encoding.tokens[at], "attention": attention, "feed": feed, "entering": entering}
    return Answer(keys=frozenset({key}), facts=facts)
