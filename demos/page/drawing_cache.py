"""What was drawn lately, for the whole hall: the same view of the same choices is computed once, whoever asks."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Generator
from typing import Any

from gradio.components.plot import PlotData

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import OnceCache

MAX_BYTES = 32 * 2**20  # of all drawings together: a hall that looks at the same, and some that do not
OVERHEAD = 1_000  # bytes that an answer takes beside its texts


class Drawings:
    """Answers of pure handlers by their inputs; the least recently used go. Safe for many threads."""

    def __init__(self, most_bytes: int = MAX_BYTES, memory: Budget | None = None) -> None:
        self._answers: OnceCache[None, Any] = OnceCache(most_bytes, _nbytes, memory, "drawings")
        self._handlers = 0

    def remembered(self, show: Callable[..., Any]) -> Callable[..., Any]:
        """`show`, asked once for each of its inputs. What it raises is not kept."""
        self._handlers += 1
        number = self._handlers

        def recall(*inputs: Any) -> Any:
            key = hashlib.sha256(repr((number, inputs)).encode("utf-8", "surrogatepass")).digest()

            def draw() -> Generator[None, None, Any]:
                yield from ()
                return _mapped(_written, show(*inputs))

            answer = self._answers.get(key, draw, None)
            return _mapped(lambda value: value, answer)  # updates of its own: Gradio takes them apart

        return recall


def _mapped(function: Callable[[Any], Any], answer: Any) -> Any:
    """The answer with `function` of each of its values: one, a sequence, a dict by component, an update's own."""
    if isinstance(answer, dict):
        return {name: _mapped(function, value) for name, value in answer.items()}
    return [_mapped(function, value) for value in answer] if isinstance(answer, list | tuple) else function(answer)


def _written(value: Any) -> Any:
    """A figure as the JSON that Gradio would write anew for each reader; else the value."""
    return PlotData(type="plotly", plot=value.to_json()) if hasattr(value, "to_plotly_json") else value


def _nbytes(answer: tuple[Any]) -> int:
    """About what an answer takes in memory."""
    sizes: list[int] = []
    _mapped(
        lambda value: sizes.append(sys.getsizeof(value.plot if isinstance(value, PlotData) else str(value))), answer[0]
    )
    return OVERHEAD + sum(sizes)
