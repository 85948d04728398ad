"""The picker of a reader's own file: its dialog offers only the files that its task reads.

Gradio itself would refuse every other name, in the browser and on the server, and with it a file without an ending.
So gradio accepts any file here: the content decides, and a file that can't be read is refused in one sentence. The
endings are in the picker's classes, from which demos/page/file_endings.js passes them to the browser.
"""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from demos.page.lesson import IN_BROWSER
from demos.training.data.file_tables import TABLES


def file_picker(label: str, endings: Sequence[str] = TABLES, **options: Any) -> gr.File:
    """Takes one file; `endings` are those that its dialog offers."""
    return gr.File(label=label, file_types=["file"], elem_classes=offered(endings), **options)


def shown_for(source: gr.Component, picker: gr.File | gr.Row, *values: str) -> None:
    """Show a picker, or a row of them, only while `source` has one of these values."""
    shown = f"(source) => ({{ __type__: 'update', visible: {json.dumps(values)}.includes(source) }})"
    source.change(None, [source], [picker], js=shown, **IN_BROWSER)


def offered(endings: Sequence[str]) -> list[str]:
    """The classes of a picker that offers these endings."""
    return ["file-picker", *(f"reads-{ending.removeprefix('.')}" for ending in (*endings, ".zip"))]
