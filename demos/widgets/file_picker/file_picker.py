"""The picker of a reader's own file: it offers the files that its task reads, and none else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from demos.training.data.file_tables import TABLES

# To Gradio's server any name: one without an ending is read by what it holds, and another is refused in one sentence.
# To the browser it is no kind of file, so its dialog offers the endings before it.
ANY_NAME = "file"


def file_picker(label: str, endings: Sequence[str] = TABLES, **options: Any) -> gr.File:
    """Takes one file; `endings` are those that its dialog offers."""
    return gr.File(label=label, file_types=offered(endings), **options)


def offered(endings: Sequence[str]) -> list[str]:
    """What Gradio is told of these endings."""
    return [*endings, ANY_NAME]
