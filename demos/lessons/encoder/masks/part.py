"""Encoder, decoder, both: one head's weights under the three masks, and the effect of attending to both sides."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.masks import MOST, causal, change_last_word, cross_weights, run_causal, writing_cost
from demos.bert.encoder.size import shape_of
from demos.errors import UserError
from demos.lessons.encoder.masks.figure import TEXT, change_figure, change_summary, cost_summary, mask_code, mask_figure
from demos.page.folds import code_fold, formula_fold, source_fold
from demos.page.guards import notice_html
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services

WRITTEN = "Her money is on the bank."
NEW = 20  # tokens to be written, in the reckoning of what that costs
PANELS = (
    ("bert", "BERT's weights, no mask: an encoder", "Every token attends to every token."),
    (
        "gpt",
        "BERT's weights with GPT's causal mask (not GPT)",
        "Each token attends only to itself and to earlier tokens; gray cells are masked.",
    ),
    (
        "both",
        "BERT's weights as cross-attention (not a trained Transformer)",
        "Each token of the output text (rows) attends to all tokens of the input text (columns).",
    ),
)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts: dict[str, gr.Component] = {}
    with gr.Row(elem_classes="encoder-masks"):
        for slug, name, what in PANELS:
            with gr.Column(min_width=340, elem_classes=["attention-heatmap", "encoder-mask", "picture"]):
                gr.HTML(TEXT.panel(name), elem_classes="encoder-told")
                parts[slug] = gr.Plot(
                    label=f"Attention weights: {name}", show_label=False, elem_id=f"encoder-mask-{slug}"
                )
                gr.HTML(TEXT.look(what), elem_classes="encoder-told")
    with gr.Row():
        with gr.Column(scale=3, min_width=340):
            parts["change"] = gr.Plot(
                label="Change of each state with the last word", show_label=False, elem_id="encoder-change"
            )
        with gr.Column(scale=2, min_width=320):
            word = gr.Textbox("cake", label="Replace the last word with", max_lines=1, elem_id="encoder-word")
            written = gr.Textbox(
                WRITTEN, label="Output text for cross-attention (or use the second sentence above)", max_lines=2,
                elem_id="encoder-written",
            )  # fmt: skip
            parts["said"] = gr.HTML("", elem_classes="encoder-told")
    formula_fold(__file__)
    parts["program"] = code_fold(__file__, "Prints this head's weights with the causal mask")
    source_fold(__file__)
    page.keep(last=word, written=written)
    inputs = [page.choices["layer"], page.choices["head"], word, written]
    show = by_component(parts, partial(drawn, page.services))
    page.draw(show, inputs, list(parts.values()), show_progress="hidden")


def drawn(services: Services, sentence: Sentence, layer: float, head: float, word: str, written: str) -> dict[str, Any]:
    """The new values by component. If the word can't be changed, the masks are still shown."""
    loaded = services.loaded(sentence.model)
    run = services.run(Sentence(sentence.text, "", sentence.model))
    encoding, n = run.encoding, len(run.encoding)
    if n > MOST:
        raise UserError(f"This part is limited to {MOST} tokens; the sentence has {n}.")
    other = services.run(Sentence(sentence.text_pair or written or WRITTEN, "", sentence.model))
    place = clamp(layer, run.num_layers), clamp(head, run.num_heads)
    changed: dict[str, Any] = {}
    try:
        decoder, change = change_last_word(loaded, run, word)
        changed["change"] = change_figure(change)
        summary = change_summary(change, word.strip())
    except UserError as error:
        decoder = run_causal(loaded, encoding)
        summary = notice_html(str(error))
    weights, masked = run.attentions[place], decoder.attentions[place]
    cross = cross_weights(loaded, run, other, place[0])[place[1]]
    limit = max(float(matrix.max()) for matrix in (weights, masked, cross))
    cost = cost_summary(n, NEW, *writing_cost(shape_of("", loaded.model), n, NEW))
    return {
        "bert": mask_figure(weights, None, encoding, encoding, limit),
        "gpt": mask_figure(masked, causal(n), encoding, encoding, limit),
        "both": mask_figure(cross, None, other.encoding, encoding, limit),
        **changed,
        "said": summary + cost,
        "program": lambda: mask_code(loaded.spec, encoding.text, *place),
    }


PART = Part(
    tab="Encoder, decoder, both",
    look=(
        "All three pictures use one formula; they differ in which tokens may be attended to. In BERT, a token attends "
        "to all tokens; in GPT, only to itself and earlier ones; in cross-attention, to the tokens of another text. "
        "Change the last word: in BERT the states of all other words change; with a causal mask they stay the same."
    ),
    build=build,
    order=8,
)
