"""What a part's handler answers, with the functions in it called, as `Page.draw` calls those of places in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_values(show: Callable[..., Any]) -> Callable[..., Any]:
    """`show`, whose answers hold values alone: one, a sequence, or a dict by name."""

    def answer(*inputs: Any, **options: Any) -> Any:
        drawn = show(*inputs, **options)
        if isinstance(drawn, dict):
            return {name: _value(one) for name, one in drawn.items()}
        return [_value(one) for one in drawn] if isinstance(drawn, list | tuple) else _value(drawn)

    return answer


def _value(one: Any) -> Any:
    return one() if callable(one) else one
