"""A layer, a head or a token asked for in another model or sentence: what lies beyond the end becomes the last one."""

from __future__ import annotations

from typing import Any

import gradio as gr


def clamp(value: float | None, count: int) -> int:
    """`value` as an index into `count` things, 0..count - 1; nothing at all is the first."""
    return min(max(int(value or 0), 0), count - 1)


def slider(asked: float | None, count: int, *, move: bool = False, **changes: Any) -> Any:
    """A slider's update for `count` things: its new end, and its value only where that must move.

    So it stays under the hand that drags it; with `move` the value came from elsewhere and is always sent.
    """
    value = clamp(asked, count)
    return gr.update(maximum=count - 1, **({"value": value} if move or value != asked else {}), **changes)
