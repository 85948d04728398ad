"""Matrices side by side (figure.py): a component in which a row and a column are followed by pointing or by key."""

from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.widgets.scripted.scripted import scripted


def matrix_picture(elem_id: str, **options: Any) -> gr.HTML:
    """The component; its value is `board_html`'s."""
    return scripted(read_beside(__file__, "script.js"), elem_id, "", **options)
