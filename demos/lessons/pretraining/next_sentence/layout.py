"""Next sentence, laid out: the input and its answer beside A and B, four inputs, how pairs are made, the trials."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page
from demos.templates import templates
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

TEXT = templates(__file__)
FIRST, SECOND = "The man went to the store.", "He bought a gallon of milk."  # Devlin et al. 2019, section A.2
PUT = ("true", "random", "swapped", "same")  # the ways to put the input together
CHOICES = ("the next sentence", "a random sentence", "swapped: B, then A", "the same sentence twice")
SEEDS = 50
OPENING = 3  # a draw with each kind of chosen token but a kept one


def picture(page: Page) -> dict[str, Any]:
    """The answer and the drawn input; beside them both boxes and what becomes of B."""
    with gr.Row(elem_classes="next-top"):
        with gr.Column(elem_classes="next-shown", min_width=320):
            with gr.Column(elem_classes="next-shown", min_width=320, elem_id="pretraining-next_sentence-picture"):
                answer = gr.HTML("", elem_id="next-answer")
                sequence = gr.HTML("", elem_id="next-sequence")
            with takeaway_row("Take the picture:"):
                picture_buttons("#pretraining-next_sentence-picture", "bert-next-sentence", page)
        with gr.Column(elem_classes="next-controls", min_width=300):
            first = gr.Textbox(FIRST, label="A", max_lines=3, elem_id="next-a")
            second = gr.Textbox(SECOND, label="B, its next sentence", max_lines=3, elem_id="next-b")
            put = gr.Radio(
                list(zip(CHOICES, PUT, strict=True)), value=PUT[0], label="What the model reads as B",
                elem_id="next-put",
            )  # fmt: skip
            with gr.Row(elem_classes="next-buttons"):
                another = gr.Button("Another random sentence", size="sm", min_width=120, elem_id="next-another")
                ours = gr.Button("Another pair of ours", size="sm", min_width=120, elem_id="next-ours")
    cases = gr.HTML("", elem_id="next-cases")
    draw = gr.Number(0, precision=0, visible="hidden")
    barred = gr.Textbox("", visible="hidden")
    return {
        "first": first, "second": second, "put": put, "another": another, "ours": ours, "draw": draw, "bar": barred,
        "answer": answer, "sequence": sequence, "cases": cases,
    }  # fmt: skip


def making() -> dict[str, Any]:
    """How the two kinds of instances are made."""
    with gr.Row(elem_classes="next-heading"):
        gr.HTML(TEXT.made_heading(), min_width=280)
        toss = gr.Button("Draw two others", size="sm", min_width=140, elem_id="next-toss")
    made = gr.HTML("", elem_id="next-made")
    tossed = gr.Number(OPENING, precision=0, visible="hidden")
    return {"toss": toss, "tossed": tossed, "made": made}


def trials(documents: int) -> dict[str, Any]:
    """The trials on our own documents, and why the task was dropped."""
    with gr.Row(elem_classes="next-heading"):
        gr.HTML(TEXT.trials_heading(documents), min_width=280)
        ask = gr.Button("Ask the model now", size="sm", variant="primary", min_width=140, elem_id="next-ask")
        seed = gr.Slider(1, SEEDS, 1, step=1, label="Which pairs are drawn", min_width=260, elem_id="next-seed")
    status = gr.HTML("", elem_id="next-status")
    results = gr.HTML("", elem_id="next-results")
    gr.HTML(TEXT.why())
    return {"ask": ask, "seed": seed, "status": status, "results": results}


def folds() -> dict[str, Any]:
    """The numbers, the formula, the code, the source."""
    with gr.Accordion("The numbers", open=False, elem_id="next-numbers"):
        numbers = gr.HTML("")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="next-code"):
        program = gr.Code("", language="python", label="Prints these logits, probabilities and losses", lines=8)
    source_fold(__file__)
    return {"numbers": numbers, "code": program}
