"""What a part's handler answers, as its tests look at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup


def plain(html: str) -> str:
    """HTML with single spaces: a template's line breaks say nothing."""
    return " ".join(html.split())


def in_order(outputs: Sequence[Any], shown: Any) -> list[Any]:
    """A handler's answer as one value an output; what it leaves as it is is a skip."""
    assert set(shown) <= set(outputs)
    values = [shown.get(output, gr.skip()) for output in outputs]
    return [plain(value) if isinstance(value, Markup) else value for value in values]
