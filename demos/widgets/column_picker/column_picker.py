"""The column picker: a file's first rows, a menu above each column, and what the rows would be trained as."""

import gradio as gr

from demos.files import read_beside
from demos.page.lesson import IN_BROWSER
from demos.widgets.scripted.scripted import scripted


def column_picker(elem_id: str, chosen: gr.Textbox) -> gr.HTML:
    """The visible picker, which `picker_html` fills; `chosen` holds the choice as `print_columns` writes it, or ""."""
    menus = scripted(read_beside(__file__, "script.js"), elem_id, elem_classes="column-picker")
    menus.select(None, None, [chosen], js=f"() => insideBert.picked[{elem_id!r}]()", **IN_BROWSER)
    return menus
