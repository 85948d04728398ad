"""The corruption machine, laid out: the picture with its sliders beside it, the losses, many draws, the folds."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.page.folds import formula_fold, source_fold
from demos.templates import templates

TEXT = templates(__file__)

OPENING = (
    "The old lighthouse stands at the end of the harbour. Every evening the keeper climbs the narrow stairs, "
    "lights the lamp and looks out over the sea. When the fog comes in from the north, the ships wait until they "
    "see the light, and the children in the village hear the horn through the night."
)
SEED = 34  # all three kinds at once
MANY = (100, 1_000)  # draws


def machine() -> dict[str, Any]:
    """The picture, and what sets it beside it."""
    with gr.Row(elem_classes="corrupt-top"):
        with gr.Column(elem_classes="corrupt-picture", min_width=320):
            legend = gr.HTML("", elem_id="corrupt-legend")
            picture = gr.HTML("", elem_id="corrupt-picture")
        with gr.Column(elem_classes="corrupt-controls", min_width=300):
            with gr.Row(elem_classes="corrupt-seed"):
                again = gr.Button("Draw again", variant="primary", min_width=130, elem_id="corrupt-again")
                seed = gr.Number(SEED, precision=0, minimum=0, label="Seed", min_width=90, elem_id="corrupt-seed")
            chosen = gr.Slider(1, 60, 15, step=1, label="Tokens chosen, %", elem_id="corrupt-chosen")
            masked = gr.Slider(0, 100, 80, step=1, label="■ Of these masked, %", elem_id="corrupt-masked")
            replaced = gr.Slider(0, 100, 10, step=1, label="◆ Random word, %", elem_id="corrupt-replaced")
            rest = gr.HTML("", elem_id="corrupt-rest")
            whole = gr.Checkbox(False, label="Whole words: all pieces of a word, or none", elem_id="corrupt-whole")
    text = gr.Textbox(
        OPENING, label="The text (empty: the bar's sentence)", lines=2, max_lines=6, elem_id="corrupt-text"
    )
    return {
        "legend": legend, "picture": picture, "text": text, "again": again, "seed": seed, "chosen": chosen,
        "masked": masked, "replaced": replaced, "rest": rest, "whole": whole,
    }  # fmt: skip


def losses() -> dict[str, Any]:
    """The chosen tokens' losses, and why some are kept or random."""
    with gr.Row(elem_classes="corrupt-losses"):
        with gr.Column(scale=3, min_width=320):
            answers = gr.HTML("", elem_id="corrupt-answers")
        with gr.Column(scale=2, min_width=300):
            gr.HTML(TEXT.why(), elem_classes="corrupt-why")
    return {"answers": answers}


def many() -> dict[str, Any]:
    """The same text corrupted again and again."""
    with gr.Row(elem_classes="corrupt-many"):
        gr.HTML(TEXT.many_heading(), elem_classes="corrupt-heading")
        draws = gr.Radio(
            [(f"{count:,} draws", count) for count in MANY],
            value=MANY[0],
            label="Draws",
            show_label=False,
            container=False,
            elem_id="corrupt-draws",
        )
    with gr.Row():
        with gr.Column(min_width=320):
            gr.HTML(TEXT.shares_caption(), elem_classes="corrupt-told")
            shares = gr.Plot(show_label=False, elem_id="corrupt-shares")
        with gr.Column(min_width=320):
            gr.HTML(TEXT.places_caption(), elem_classes="corrupt-told")
            places = gr.Plot(show_label=False, elem_id="corrupt-places")
    said = gr.HTML("", elem_classes="corrupt-told", elem_id="corrupt-said")
    return {"draws": draws, "shares": shares, "places": places, "said": said}


def folds() -> dict[str, Any]:
    """Numbers, formula, code, source."""
    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML("", elem_id="corrupt-numbers")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False):
        code = gr.Code("", language="python", label="Makes this draw and prints its losses", lines=8)
    source_fold(__file__)
    return {"numbers": numbers, "code": code}
