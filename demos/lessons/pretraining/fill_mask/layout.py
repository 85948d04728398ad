"""Fill the mask, laid out: sentence, guesses beside the layers, the context, the folds."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.page.folds import formula_fold, source_fold
from demos.templates import templates

TEXT = templates(__file__)
SENTENCE = "fill-sentence"
TOP, LEAST, MOST = 10, 5, 20
EXAMPLES = (  # (on the button, in the bar, another context)
    ("The capital of France", "The capital of France is [MASK].", "We spent a week in [MASK], the capital of France."),
    ("He or she?", "The nurse said that [MASK] was tired.", "The doctor said that [MASK] was tired."),
    (
        "She opened the …",
        "She opened the [MASK] and walked into the room.",
        "She opened the [MASK] and read the first page.",
    ),
    ("Grammar", "She did [MASK] like it at all.", "She did [MASK] like it, and said so."),
)


def picture() -> dict[str, Any]:
    """The sentence with its switches, and below it the guesses beside what each layer would guess."""
    with gr.Row(elem_classes="fill-examples"):
        gr.HTML(TEXT.examples(), elem_classes="fill-words", min_width=40)
        examples = [gr.Button(label, size="sm", min_width=60, elem_classes="fill-example") for label, _, _ in EXAMPLES]
    chips = gr.HTML(
        None,
        html_template="${value}",
        js_on_load=read_beside(__file__, "script.js"),
        apply_default_css=False,
        elem_id=SENTENCE,
        name=SENTENCE,
    )
    marks = gr.Textbox("", visible="hidden")
    with gr.Row(elem_classes="fill-top"):
        with gr.Column(elem_classes="fill-guesses", min_width=320):
            said = gr.HTML("", elem_id="fill-said")
            best = gr.HTML("", elem_id="fill-best")
            top = gr.Slider(LEAST, MOST, TOP, step=1, label="Guesses shown", elem_id="fill-top")
        with gr.Column(elem_classes="fill-layers", min_width=320):
            layers = gr.HTML("", elem_id="fill-layers")
            gr.HTML(TEXT.lens_note())
    return {
        "examples": examples, "chips": chips, "marks": marks, "said": said, "best": best, "top": top, "layers": layers
    }  # fmt: skip


def context() -> dict[str, Any]:
    """Words taken away, and another sentence beside this one."""
    with gr.Row(elem_classes="fill-context"):
        with gr.Column(min_width=320):
            gr.HTML(TEXT.without_heading())
            remove = gr.Button("Take each other word away in turn", size="sm", elem_id="fill-remove")
            removed = gr.HTML("", elem_id="fill-removed")
        with gr.Column(min_width=320):
            gr.HTML(TEXT.context_heading())
            with gr.Row(elem_classes="fill-other"):
                other = gr.Textbox(
                    "",
                    label="Another sentence with [MASK]",
                    placeholder="Copy the sentence, then change its words",
                    lines=1,
                    max_lines=3,
                    scale=5,
                    min_width=220,
                    elem_id="fill-other",
                )
                copy = gr.Button("Copy the sentence", size="sm", min_width=150, elem_id="fill-copy")
            beside = gr.HTML("", elem_id="fill-beside")
    return {"remove": remove, "removed": removed, "other": other, "copy": copy, "beside": beside}


def folds() -> dict[str, Any]:
    """The whole sentence's likelihood, the numbers, the formula, the code, the source."""
    with gr.Accordion("How likely is the whole sentence? Each token hidden in turn", open=False, elem_id="fill-scores"):
        score = gr.Button("Score the sentence, token by token", size="sm", elem_id="fill-score")
        scored = gr.HTML("", elem_id="fill-scored")
    with gr.Accordion("The numbers", open=False, elem_id="fill-numbers"):
        numbers = gr.HTML("")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="fill-code"):
        program = gr.Code("", language="python", label="Prints these guesses, and each layer's first word", lines=8)
    source_fold(__file__)
    return {"score": score, "scored": scored, "numbers": numbers, "code": program}
