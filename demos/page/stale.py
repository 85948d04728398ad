"""Outputs that are still shown under a notice are dimmed, and marked as those of the input before, until a good answer
comes.

The notice carries the style that dims: both come and go together, whichever tab or fold is mounted meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from demos.templates import templates

TEXT = templates(__file__)
PICTURES = (gr.HTML, gr.Plot, gr.Code, gr.Markdown)  # the outputs; a control can still be moved


def pictures(outputs: Sequence[gr.Component]) -> list[str]:
    """The element ids of a handler's outputs, a new one where there is none; called while the page is laid out."""
    shown = [output for output in outputs if isinstance(output, PICTURES) and output.visible != "hidden"]
    for output in shown:
        output.elem_id = output.elem_id or f"drawn-{output._id}"
    return [output.elem_id for output in shown]


def dimmed(ids: Sequence[str]) -> Markup:
    """HTML to put beside a notice: dims these elements, and says so where there is anything in one of them."""
    if not ids:
        return Markup()
    return TEXT.dimmed(f":is({', '.join(f'#{name}' for name in ids)})", f"before-{'-'.join(ids)}")
