"""Encoder, decoder, both: one head's weights under the three masks, and what reading both sides is worth."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.encoder.masks import MOST, causal, change_last_word, cross_weights, run_causal, writing_cost
from demos.bert.encoder.size import shape_of
from demos.errors import UserError
from demos.lessons.encoder.masks.figure import TEXT, change_figure, change_told, cost_told, mask_code, mask_figure
from demos.page.folds import formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, notice_html
from demos.page.services import Sentence

WRITTEN = "Her money is on the bank."
NEW = 20  # tokens to be written, in the reckoning of what that costs
PANELS = (
    ("bert", "BERT, the encoder", "Every token sees every token."),
    ("gpt", "GPT, the decoder", "A token sees itself and what came before it; the grey cells are forbidden."),
    (
        "both",
        "The Transformer, both: its cross-attention",
        "Each token of the text being written (rows) sees all that was read (columns).",
    ),
)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    plots = []
    with gr.Row(elem_classes="encoder-masks"):
        for slug, name, what in PANELS:
            with gr.Column(min_width=340, elem_classes="attention-heatmap encoder-mask"):
                gr.HTML(TEXT.panel(name, what), elem_classes="encoder-told")
                plots.append(gr.Plot(show_label=False, elem_id=f"encoder-mask-{slug}"))
    with gr.Row():
        with gr.Column(scale=3, min_width=340):
            change = gr.Plot(show_label=False, elem_id="encoder-change")
        with gr.Column(scale=2, min_width=320):
            word = gr.Textbox(
                "cake", label="Put this in the place of the last word", max_lines=1, elem_id="encoder-word"
            )
            written = gr.Textbox(
                WRITTEN, label="The text being written (or the second sentence above)", max_lines=2,
                elem_id="encoder-written",
            )  # fmt: skip
            said = gr.HTML("", elem_classes="encoder-told")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False):
        program = gr.Code("", language="python", label="Prints this head's weights under the causal mask", lines=8)
    source_fold(__file__)
    page.keep(last=word, written=written)
    services = page.services

    def show(sentence: Sentence, layer: float, head: float, word: str, written: str) -> dict[gr.Component, Any]:
        loaded = services.loaded(sentence.model)
        run = services.run(Sentence(sentence.text, "", sentence.model))
        encoding, n = run.encoding, len(run.encoding)
        if n > MOST:
            raise UserError(f"This part takes up to {MOST} tokens; the sentence has {n}.")
        other = services.run(Sentence(sentence.text_pair or written or WRITTEN, "", sentence.model))
        place = clamp(layer, run.num_layers), clamp(head, run.num_heads)
        weights, decoder = run.attentions[place], run_causal(loaded, encoding).attentions[place]
        cross = cross_weights(loaded, run, other, place[0])[place[1]]
        limit = max(float(drawn.max()) for drawn in (weights, decoder, cross))
        shown: dict[gr.Component, Any] = dict(
            zip(
                plots,
                (
                    mask_figure(weights, None, encoding, encoding, limit),
                    mask_figure(decoder, causal(n), encoding, encoding, limit),
                    mask_figure(cross, None, other.encoding, encoding, limit),
                ),
                strict=True,
            )
        )
        try:
            moved = change_last_word(loaded, run, word)
            shown[change] = change_figure(moved)
            words = change_told(moved, word.strip())
        except UserError as error:  # the masks are worth showing all the same
            words = notice_html(str(error))
        cost = writing_cost(shape_of("", loaded.model), n, NEW)
        shown[said] = words + cost_told(n, NEW, *cost)
        shown[program] = mask_code(loaded.spec, encoding.text, *place)
        return shown

    shared = [page.choices["layer"], page.choices["head"]]
    page.draw(show, [*shared, word, written], [*plots, change, said, program], show_progress="hidden")


PART = Part(
    tab="Encoder, decoder, both",
    look=(
        "One arithmetic, three fields of view: BERT's tokens see all, GPT's what came before, and in the Transformer's "
        "cross-attention one text reads another. Change the last word: in BERT the words before it notice, behind a "
        "causal mask they can't."
    ),
    build=build,
    order=7,
)
