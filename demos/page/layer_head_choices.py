"""A layer, a head or a token asked for: beyond the end it is the last one; unmoved, it is the model's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import gradio as gr

Value = TypeVar("Value", int, str)


def clamp(value: float | None, count: int) -> int:
    """`value` as an index into `count` things, 0..count - 1; nothing at all is the first."""
    return min(max(int(value or 0), 0), count - 1)


def slider(asked: float | None, count: int, *, move: bool = False, **changes: Any) -> Any:
    """A slider's update for `count` things: its new end, and its value only where that must move.

    So it stays under the hand that drags it; with `move` the value came from elsewhere and is always sent.
    """
    value = clamp(asked, count)
    return gr.update(maximum=count - 1, **({"value": value} if move or value != asked else {}), **changes)


def following(asked: Any, first: Value, followed: str, model: str, pick: Callable[[], Value]) -> tuple[Any, str]:
    """(the choice, what `followed` is from now on): a choice that nobody has moved is this model's own, `pick()`.

    `first` is what the component opens with, a whole number or a word; `followed` is "model choice" of the last pick,
    or "model moved", and empty before the first drawing.
    """
    before, _, last = (followed or "").rpartition(" ")
    if before == model:
        return asked, followed
    kind = type(first)  # a slider's number may come as 5.0
    if str(kind(asked or kind())) != (last if before else str(first)):
        return asked, f"{model} moved"
    own = pick()
    return own, f"{model} {own}"
