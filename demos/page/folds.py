"""The folds that every lesson ends in alike: the formula and the source, each a text in assets/."""

from __future__ import annotations

import gradio as gr

from demos.page.assets import read_asset

MATHS = [{"left": "$$", "right": "$$", "display": True}, {"left": "$", "right": "$", "display": False}]


def formula_fold(slug: str) -> None:
    """The fold "The formula": assets/SLUG-formula.md, its mathematics between dollar signs."""
    with gr.Accordion("The formula", open=False, elem_id=f"{slug}-formula"):
        gr.Markdown(read_asset(f"{slug}-formula.md"), latex_delimiters=MATHS)


def source_fold(slug: str) -> None:
    """The fold "The source": assets/SLUG-sources.md, where the lesson's facts come from."""
    with gr.Accordion("The source", open=False, elem_id=f"{slug}-source"):
        gr.Markdown(read_asset(f"{slug}-sources.md"))
