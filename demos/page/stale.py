"""What still stands under a notice: dimmed, and said to be of the input before, until a good answer comes.

The notice carries the style that dims: both come and go together, whichever tab or fold is mounted meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

PICTURES = (gr.HTML, gr.Plot, gr.Code, gr.Markdown)  # what is read; a control is still there to be moved
BEFORE = "What is dimmed here still shows the sentence or the choice before."
DRAWN = ":is(.html-container > div > *, .js-plotly-plot, .md > *)"  # in a block that shows anything


def pictures(outputs: Sequence[gr.Component]) -> list[str]:
    """The element ids of what a handler draws, one made up where there is none; called while the page is laid out."""
    found = []
    for output in outputs:
        if isinstance(output, PICTURES) and output.visible != "hidden":
            output.elem_id = output.elem_id or f"drawn-{output._id}"
            found.append(output.elem_id)
    return found


def dimmed(ids: Sequence[str]) -> str:
    """HTML to stand beside a notice: dims these elements, and says so where there is anything in one of them."""
    if not ids:
        return ""
    which, told = f":is({', '.join(f'#{one}' for one in ids)})", f"before-{'-'.join(ids)}"
    return (
        f'<p class="before" id="{told}">{BEFORE}</p><style>{which} > * {{ filter: grayscale(0.7) opacity(0.4); }} '
        f"body:not(:has({which} {DRAWN})) #{told} {{ display: none; }}</style>"
    )
