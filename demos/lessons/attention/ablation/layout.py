"""The layout of "Switch heads off": the grid beside the picture, the outputs, each token's two bars, the folds."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.attention.ablation import write_heads
from demos.counting import layer_name
from demos.lessons.attention.ablation.results import MAX_CLASSES, MAX_COMPARED
from demos.lessons.attention.ablation.text import TEXT
from demos.page.folds import code_fold, fold, formula_fold
from demos.page.lesson import Page
from demos.widgets.head_grid.head_grid import OPENED, head_grid
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

GRID = "ablation-grid"
OPENING = write_heads([OPENED])  # the first drawing picks another one for the model in use
COMPARED = "She sat on the grassy bank of the river.\nThe bank raised its interest rates.\nPenguins cannot fly."
LAST = "last"
PICKED = -1  # the place to hide is picked by itself
MAX_PLACES = 128


def switches(page: Page, deepest: int) -> dict[str, Any]:
    """All heads to click on, beside the states and outputs that a click changes."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="ablation-top"):
        with gr.Column(elem_classes="ablation-switches", min_width=320):
            parts["grid"] = head_grid(
                "Click a head to switch it off", mode="switch", elem_id=GRID, elem_classes="picture"
            )
            page.show_look()
            parts["off"] = gr.Textbox(
                OPENING,
                label="Heads off",
                info="Type layer.head, for example 1.2; the link saves your choice. At first, the head with the "
                "largest average weight on the previous token is off.",
                elem_id="ablation-off",
            )
            with gr.Row():
                parts["whole"] = gr.Dropdown(
                    [(layer_name(layer), layer) for layer in range(deepest)], value=None,
                    label="Switch off a whole layer",
                    filterable=False, min_width=150, elem_id="ablation-layer-off",
                )  # fmt: skip
                parts["all_on"] = gr.Button("All heads on", size="sm", min_width=130, elem_id="ablation-all-on")
        with gr.Column(elem_classes="ablation-changes", min_width=320):
            with gr.Column(
                elem_classes=["ablation-picture", "attention-heatmap", "picture"],
                min_width=0,
                elem_id="ablation-picture",
            ):
                parts["plot"] = gr.Plot(label="How much each token's state changes, layer by layer", show_label=False)
                parts["said"] = gr.HTML("", elem_classes="attention-told", elem_id="ablation-said")
            with takeaway_row("Download the picture:"):
                picture_buttons("#ablation-picture", "bert-heads-off-{off}", page, inputs={"off": parts["off"]})
            parts |= what_comes_out()
    parts["struck"] = gr.Textbox("", visible="hidden")  # the heads that the grid strikes out
    parts["followed"] = gr.Textbox("", visible="hidden")  # for which model the heads were picked
    return parts


def layers(count: int) -> list[tuple[str, str]]:
    """The menu of layers: "last" stays the last one when the model changes."""
    return [("last", LAST), *((layer_name(number), str(number)) for number in range(count))]


def what_comes_out() -> dict[str, Any]:
    """Similarities, masked word, classifier: before and after."""
    parts: dict[str, Any] = {}
    gr.HTML(TEXT.what_comes_out(), elem_classes="ablation-heading")
    with gr.Row(elem_classes="ablation-effects"):
        with gr.Column(min_width=640, scale=3):
            parts["similar"] = gr.HTML("", elem_id="ablation-similar")
            label = f"Sentences to compare with, one per line (at most {MAX_COMPARED})"
            parts["listed"] = gr.Textbox(COMPARED, label=label, lines=3, max_lines=8, elem_id="ablation-compare")
        with gr.Column(min_width=320, scale=3):
            places = [("chosen automatically", PICKED), *((f"token {place}", place) for place in range(MAX_PLACES))]
            parts["word"] = gr.Dropdown(
                places, value=PICKED, label="Word to mask", filterable=False, visible=False, elem_id="ablation-word"
            )
            parts["guesses"] = gr.HTML("", elem_id="ablation-guesses")
            parts["classes"] = gr.HTML("", elem_id="ablation-classes")
    return parts


def saliency(deepest: int) -> dict[str, Any]:
    """Gradient x input and attention, a row a token."""
    parts: dict[str, Any] = {}
    keys = [*(f"s{n}" for n in range(MAX_COMPARED + 1)), *(f"c{n}" for n in range(MAX_CLASSES)), "w"]
    with fold(__file__, "saliency", "Which tokens affect the output? Gradient × input next to attention"):
        with gr.Row():
            parts["output"] = gr.Dropdown(
                keys, value="s0", label="Output to explain", filterable=False, scale=3, min_width=300,
                elem_id="ablation-output",
            )  # fmt: skip
            parts["layer"] = gr.Dropdown(
                layers(deepest), value=LAST, label="Layer whose attention is shown (mean of its "
                    "heads)", filterable=False,
                min_width=200, elem_id="ablation-attention-layer",
            )  # fmt: skip
            parts["rows"] = gr.Radio(
                [("[CLS]", "cls"), ("all tokens", "mean")], value="mean", label="Attention from", min_width=200
            )
        parts["explained"] = gr.HTML("", elem_id="ablation-explained")
        parts["agreed"] = gr.HTML("", elem_classes="attention-told", elem_id="ablation-agreed")
        gr.HTML(TEXT.why_they_differ(), elem_classes="ablation-heading")
    return parts


def folded() -> dict[str, Any]:
    """Each head alone, the numbers, the formula, the code."""
    parts: dict[str, Any] = {}
    with fold(__file__, "each", "Which head matters most here? Switch off one at a time"):
        parts["try"] = gr.Button("Try every head", min_width=200, elem_id="ablation-try")
        gr.HTML(TEXT.one_by_one(), elem_classes="ablation-heading")
        parts["board"] = gr.HTML("", elem_id="ablation-board")
    with fold(__file__, "numbers", "The numbers"):
        parts["table"] = gr.HTML("")
    formula_fold(__file__)
    parts["code"] = code_fold(
        __file__, "Prints the cosine between each token's states with all heads on and with some off"
    )
    return parts
