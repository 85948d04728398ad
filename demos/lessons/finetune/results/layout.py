"""The layout of the part "What was learned": four views, one at a time, and the folds below."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.lessons.finetune.results.data import ERRORS
from demos.lessons.finetune.results.text import TEXT
from demos.page.folds import fold, formula_fold, source_fold
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

MAP, ATTENTION, ERROR, TRUST = "map", "attention", "errors", "trust"
VIEWS = [
    ("Are the classes separated?", MAP),
    ("Which heads changed?", ATTENTION),
    ("What caused the errors?", ERROR),
    ("Are its probabilities reliable?", TRUST),
]


def laid_out(page: Any) -> dict[str, Any]:
    """Make the components, in their order on the page: name -> component."""
    parts: dict[str, Any] = {}
    parts["view"] = gr.Radio(
        VIEWS, value=MAP, label="Question about this model", show_label=False, elem_id="results-view"
    )
    with gr.Row(elem_classes="results-maps") as parts["map"]:
        for side in ("before", "after"):
            with gr.Column(min_width=340, elem_classes="results-side"):
                parts[f"{side}_map"] = gr.Plot(
                    show_label=False, label=f"Map {side}", elem_id=f"results-map-{side}", elem_classes="picture"
                )
                parts[f"{side}_told"] = gr.HTML(elem_classes="said")
    parts["status"] = gr.HTML("", elem_id="results-status", elem_classes="said")
    parts["map_told"] = gr.HTML(elem_classes="said")
    with gr.Column(visible=False) as parts["attention"]:
        parts["attention_told"] = gr.HTML(elem_classes="said")
        with gr.Row(elem_id="results-attention"):
            for name, title in (("heads", "How much each head changed"), ("left", "Before"), ("right", "After")):
                with gr.Column(min_width=330, elem_classes="results-heatmap") as parts[f"{name}_side"]:
                    parts[f"{name}_name"] = gr.HTML(TEXT.side(title), elem_classes="said")
                    parts[name] = gr.Plot(show_label=False, label=title, elem_id=f"results-{name}")
    with gr.Row(visible=False, elem_classes="results-errors") as parts["errors"]:
        with gr.Column(min_width=330, scale=5):
            parts["error"] = gr.Radio(
                # all that a link may name; the list is cut to the errors there are
                [(f"error {number}", str(number)) for number in range(ERRORS)],
                value="0",
                label="Most confident errors on the test examples",
                elem_id="results-error",
            )
        with gr.Column(min_width=330, scale=6):
            parts["tokens"] = gr.HTML(elem_id="results-tokens", elem_classes="said")
    with gr.Row(visible=False, elem_classes="results-trust") as parts["trust"]:
        with gr.Column(min_width=340, scale=6):
            parts["reliability"] = gr.Plot(show_label=False, label="Reliability", elem_id="results-reliability")
            with takeaway_row():
                picture_buttons("#results-reliability", "fine-tune-calibration", page)
        with gr.Column(min_width=320, scale=5):
            parts["trust_told"] = gr.HTML(elem_classes="said")
    with fold(__file__, "numbers", "The numbers"):
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    source_fold(__file__)
    parts["seen"] = gr.State("")  # what this reader's page shows
    return parts
