"""Self-attention for one token, number by number: q, k, v, the softmax, z; then all heads and W_O."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.encoder.attention_loop import measure
from demos.bert.encoder.layer_trace import difference, layer_ledger
from demos.bert.encoder.self_attention import head_shares
from demos.counting import counted
from demos.figures.numbers import scientific
from demos.lessons.encoder.choices import PICKER, OfHead, OfLayer, OfToken
from demos.lessons.encoder.program_layer import selfattention_code
from demos.lessons.encoder.self_attention.figure import (
    Query,
    attention_numbers,
    attention_picture,
    attention_summary,
    closed_html,
    concat_picture,
    times_figure,
    times_summary,
)
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, slider, switch
from demos.widgets.number_strips.number_strips import cells_picture
from demos.widgets.token_picker.token_picker import pick

STEPS = ("query", "key", "value", "weights", "concat", "t1")  # compared with the model's own


class SelfAttention(View):
    tab, order, former = "Self-attention", 3, "selfattention"
    look = (
        "The larger the dot product of the token’s query q with a key k, the larger the weight of that key's token. "
        "The output z is the weighted sum of the values v. Read one row from left to right, then the last column "
        "from top to bottom; click a key to follow its token."
    )

    @dataclass(frozen=True)
    class Choices(OfHead, OfLayer, OfToken):
        causal: bool = switch("Causal mask: no token attends to later tokens, as in a decoder")
        pads: int = slider(0, 8, 0, "Number of [PAD] tokens to append", min_width=220)

    def lay_out(self, at: Layout) -> None:
        at["board"] = cells_picture("encoder-board", PICKER, elem_classes="picture")
        at["concat"] = cells_picture("encoder-concat", PICKER)
        at.look()
        at["said"] = gr.HTML("", elem_classes="encoder-told")
        with gr.Row(elem_classes="encoder-switches"):
            at.control("causal")
            at.control("pads")
        at["closed"] = gr.HTML("", elem_id="encoder-closed", elem_classes="encoder-told")
        with fold(__file__, "numbers", "The numbers"):
            at["numbers"] = gr.HTML("")
        formula_fold(__file__)
        with fold(__file__, "code", "The code: loops and matrices"):
            gr.Markdown(
                "The same computation in two ways. Each program prints this head’s q · k, scaled product and weight "
                "for every key, then z."
            )
            with gr.Row():
                for name, label in (("loops", "With loops"), ("matrices", "With matrices")):
                    at[name] = gr.Code("", language="python", label=label, lines=8, min_width=420)
            timing(at.page)
        source_fold(__file__)

    def draw(self, on: On, c: Choices) -> Shown:
        ledger = layer_ledger(on.loaded, on.run, c.layer, causal=c.causal, padding=c.pads)
        query = Query(ledger, on.encoding, c.head, c.token)
        moved = ""
        if ledger.padding:
            plain = layer_ledger(on.loaded, on.run, c.layer, causal=c.causal)
            moved = scientific(difference(ledger.attention.output[: len(on.encoding)], plain.attention.output))
        program = partial(selfattention_code, on.loaded.spec, ledger, on.encoding, c.head, c.token)
        return {
            "board": attention_picture(query),
            "said": attention_summary(query),
            "concat": concat_picture(query, head_shares(ledger.weights, ledger.attention, c.token)),
            "closed": closed_html(ledger, STEPS, moved),
            "numbers": lambda: attention_numbers(query),
            "loops": partial(program, loops=True),
            "matrices": partial(program, loops=False),
        }


def timing(page: Page) -> None:
    """The button that measures both programs' computation on this server, and what it found."""
    services = page.services
    timed = gr.Button("Measure both on this server", size="sm", elem_id="encoder-time")
    times = gr.HTML("", elem_classes="encoder-told")
    plot = gr.Plot(label="Times with loops and matrices", show_label=False, visible=False, elem_id="encoder-times")

    def time_both(sentence: Sentence) -> dict[gr.Component, Any]:
        spec = services.store.spec(services.key(sentence.model))
        measured = measure(spec.width // spec.num_heads)
        return {times: times_summary(measured), plot: gr.update(value=times_figure(measured), visible=True)}

    page.on(
        [timed.click],
        time_both,
        [],
        [times, plot],
        of_sentence=True,
        concurrency_id="time",  # alone, so that two readers do not time each other
        concurrency_limit=1,
        trigger_mode="once",
    )


def answer(services: Services, sentence: Sentence, token: float, layer: float, head: float) -> Answer:
    """One row of one head, and all rows of all heads; a layer or head beyond the model's becomes its last."""
    run = services.run(sentence)
    at, layer, head = pick(run.encoding, token), clamp(layer, run.num_layers), clamp(head, run.num_heads)
    row = run.attentions[layer, head, at]  # [n]
    best = int(row.argmax())
    own = run.attentions.argmax(axis=-1) == np.arange(len(row))  # [L, A, n]
    return Answer(
        facts={
            "layer": counted(layer),
            "head": counted(head),
            "heads": run.num_layers * run.num_heads,
            "piece": run.encoding.tokens[at],
            "best": run.encoding.tokens[best],
            "weight": row[best],
            "own": row[at],
            "share": own.mean(),
            "even": 1 / len(row),
        }
    )
