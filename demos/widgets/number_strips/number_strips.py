"""A picture made of strips of cells (demos/figures/cell_strip.py): a component that shows the number under the pointer.

    picture = cells_picture("encoder-block-picture", picker="encoder-token")
    picture.select(None, None, [number], js=chosen_in("encoder-block-picture"), api_visibility="private")

A click on a button with `data-token` presses that token's chip in the picker named; a click on a strip with
`data-group` fires `select`, and `chosen_in` then gives the number.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.widgets.scripted.scripted import scripted


def cells_picture(elem_id: str, picker: str, **options: Any) -> gr.HTML:
    """The component; its value is the picture's HTML. A function, since gradio writes stubs beside subclasses."""
    return scripted(read_beside(__file__, "script.js"), elem_id, "", picker=picker, **options)


def chosen_in(elem_id: str) -> str:
    """A JavaScript handler that answers with the number clicked last."""
    return f"() => insideBert.picked['{elem_id}']()"
