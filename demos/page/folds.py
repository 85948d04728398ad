"""The folds that every part ends in alike: the formula and the source, each a text in the part's own folder."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from demos.files import read_beside

MATHS = [{"left": "$$", "right": "$$", "display": True}, {"left": "$", "right": "$", "display": False}]


def formula_fold(module: str) -> None:
    """The fold "The formula": formula.md beside `module`, which is a `__file__`."""
    with gr.Accordion("The formula", open=False, elem_id=f"{_place(module)}-formula"):
        gr.Markdown(read_beside(module, "formula.md"), latex_delimiters=MATHS)


def source_fold(module: str) -> None:
    """The fold "The source": sources.md beside `module`, which is a `__file__`."""
    with gr.Accordion("The source", open=False, elem_id=f"{_place(module)}-source"):
        gr.Markdown(read_beside(module, "sources.md"))


def _place(module: str) -> str:
    """lesson-part, or the lesson alone where it has no parts."""
    folder = Path(module).resolve().parent
    return folder.name if folder.parent.name == "lessons" else f"{folder.parent.name}-{folder.name}"
