"""A table whose columns sort by a click: `table = sortable("elem-id")`, with heads by text.html's `head`.

The table has the class `sortable`; a cell "–" is empty and stays below. Cells of words have the class `words`.
"""

from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.widgets.scripted.scripted import scripted


def sortable(elem_id: str, **options: Any) -> gr.HTML:
    """HTML for such a table."""
    return scripted(read_beside(__file__, "script.js"), elem_id, **options)
