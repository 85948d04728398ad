"""What a part's handler answers, as its tests look at it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup


def plain(html: str) -> str:
    """HTML with single spaces: a template's line breaks say nothing."""
    return " ".join(html.split())


def answering(handler: Callable[..., Any], outputs: Sequence[Any]) -> Callable[..., Any]:
    """The handler with each answer as a list, one value an output; of one output the value itself."""

    def listed(answer: Any) -> Any:
        if not isinstance(answer, dict):
            return answer
        values = in_order(outputs, answer)
        return values if len(values) > 1 else values[0]

    if not inspect.isgeneratorfunction(handler):
        return lambda *values: listed(handler(*values))

    def stream(*values: Any) -> Iterator[Any]:
        steps = handler(*values)
        try:
            for answer in steps:
                yield listed(answer)
        finally:
            steps.close()

    return stream


def in_order(outputs: Sequence[Any], shown: Any) -> list[Any]:
    """A handler's answer as one value an output; what it leaves as it is is a skip."""
    assert set(shown) <= set(outputs)
    values = [shown.get(output, gr.skip()) for output in outputs]
    return [plain(value) if isinstance(value, Markup) else value for value in values]
