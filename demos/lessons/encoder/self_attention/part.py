"""Self-attention for one token, number by number: q, k, v, the softmax, z; then all heads and W_O."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.attention_loop import measure
from demos.bert.encoder.layer_trace import difference, layer_ledger
from demos.bert.encoder.self_attention import head_shares
from demos.figures.numbers import scientific
from demos.lessons.encoder.program_layer import selfattention_code
from demos.lessons.encoder.self_attention.figure import Query, attention_numbers, attention_picture, attention_summary
from demos.lessons.encoder.self_attention.figure_concat import closed_html, concat_picture
from demos.lessons.encoder.self_attention.figure_loops import times_figure, times_summary
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component, with_sentence
from demos.page.services import Sentence, Services
from demos.widgets.number_strips.number_strips import cells_picture
from demos.widgets.token_picker.token_picker import pick

MOST_PADS = 8
PICKER = "encoder-token"  # the lesson's token picker; a click on a key presses its chip there
STEPS = ("query", "key", "value", "weights", "concat", "t1")  # held against the model's own


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    token, layer, head = (page.choices[name] for name in ("token", "layer", "head"))
    parts: dict[str, gr.Component] = {
        "board": cells_picture("encoder-board", PICKER, elem_classes="picture"),
        "concat": cells_picture("encoder-concat", PICKER),
    }
    page.show_look()
    parts["said"] = gr.HTML("", elem_classes="encoder-told")
    with gr.Row(elem_classes="encoder-switches"):
        causal = gr.Checkbox(False, label="Causal mask: no token attends to later tokens, as in a decoder")
        pads = gr.Slider(0, MOST_PADS, 0, step=1, label="Number of [PAD] tokens to append", min_width=220)
    parts["closed"] = gr.HTML("", elem_id="encoder-closed", elem_classes="encoder-told")
    with fold(__file__, "numbers", "The numbers"):
        parts["numbers"] = gr.HTML("")
    formula_fold(__file__)
    with fold(__file__, "code", "The code: loops and matrices"):
        gr.Markdown(
            "The same computation in two ways. Each program prints this head’s q · k, scaled product and weight "
            "for every key, then z."
        )
        with gr.Row():
            for name, label in (("loops", "With loops"), ("matrices", "With matrices")):
                parts[name] = gr.Code("", language="python", label=label, lines=8, min_width=420)
        timed = gr.Button("Measure both on this server", size="sm", elem_id="encoder-time")
        times = gr.HTML("", elem_classes="encoder-told")
        plot = gr.Plot(label="Times with loops and matrices", show_label=False, visible=False, elem_id="encoder-times")
    source_fold(__file__)
    page.keep(causal=causal, pads=pads)

    def time_both(sentence: Sentence) -> dict[gr.Component, Any]:
        spec = services.store.spec(services.key(sentence.model))
        measured = measure(spec.width // spec.num_heads)
        return {times: times_summary(measured), plot: gr.update(value=times_figure(measured), visible=True)}

    show = by_component(parts, partial(drawn, services))
    page.draw(show, [token, layer, head, causal, pads], list(parts.values()), show_progress="hidden")
    page.on(
        [timed.click],
        with_sentence(time_both),
        page.sentence,
        [times, plot],
        concurrency_id="time",  # alone, so that two readers do not time each other
        concurrency_limit=1,
        trigger_mode="once",
    )


def drawn(
    services: Services, sentence: Sentence, token: float, layer: float, head: float, causal: bool, pads: float
) -> dict[str, Any]:
    """The new values by component. A token, layer or head beyond this sentence's or model's becomes its last one."""
    run, loaded = services.run(sentence), services.loaded(sentence.model)
    number, head, token = clamp(layer, run.num_layers), clamp(head, run.num_heads), pick(run.encoding, token)
    ledger = layer_ledger(loaded, run, number, causal=bool(causal), padding=clamp(pads, MOST_PADS + 1))
    query = Query(ledger, run.encoding, head, token)
    moved = ""
    if ledger.padding:
        plain = layer_ledger(loaded, run, number, causal=bool(causal))
        moved = scientific(difference(ledger.attention.output[: len(run.encoding)], plain.attention.output))
    program = partial(selfattention_code, loaded.spec, ledger, run.encoding, head, token)
    return {
        "board": attention_picture(query),
        "said": attention_summary(query),
        "concat": concat_picture(query, head_shares(ledger.weights, ledger.attention, token)),
        "closed": closed_html(ledger, STEPS, moved),
        "numbers": lambda: attention_numbers(query),
        "loops": partial(program, loops=True),
        "matrices": partial(program, loops=False),
    }


PART = Part(
    tab="Self-attention",
    look=(
        "The larger the dot product of the token’s query q with a key k, the larger the weight of that key's token. "
        "The output z is the weighted sum of the values v. Read one row from left to right, then the right column "
        "from top to bottom; click a key to follow that token."
    ),
    build=build,
    order=3,
    former="selfattention",
)
