"""What was drawn lately, for the whole hall: the same view of the same choices is computed once, whoever asks."""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from gradio.components.plot import PlotData

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import OnceCache
from demos.figures.summary.summary import with_summary

MAX_BYTES = 8 * 2**20  # of all drawings together, compressed: some hundreds
OVERHEAD = 1_000  # bytes that an answer takes beside its texts
SHORT = 500  # characters: a text that is kept as it is
LEVEL = 1  # of zlib: a picture of 100 kB in 1 ms, and back in 0.2 ms


@dataclass(frozen=True)
class Compressed:
    """A text, or the JSON of a Plotly figure, as it is kept."""

    data: bytes
    is_figure: bool = False


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
                return _mapped(_compressed, show(*inputs))

            answer = self._answers.get(key, draw, None)
            return _mapped(_read, answer)  # updates of its own: Gradio takes them apart

        return recall


def _mapped(function: Callable[[Any], Any], answer: Any) -> Any:
    """The answer with `function` of each of its values: one, a sequence, a dict by component, an update's own."""
    if isinstance(answer, dict):
        return {name: _mapped(function, value) for name, value in answer.items()}
    return [_mapped(function, value) for value in answer] if isinstance(answer, list | tuple) else function(answer)


def _compressed(value: Any) -> Any:
    """A long text, or a figure as the JSON that Gradio would write anew for each reader; else the value."""
    if hasattr(value, "to_plotly_json"):
        return Compressed(zlib.compress(with_summary(value).to_json().encode(), LEVEL), is_figure=True)
    if isinstance(value, str) and len(value) > SHORT:
        return Compressed(zlib.compress(value.encode("utf-8", "surrogatepass"), LEVEL))
    return value


def _read(value: Any) -> Any:
    """What a handler gave, of what is kept of it."""
    if not isinstance(value, Compressed):
        return value
    text = zlib.decompress(value.data).decode("utf-8", "surrogatepass")
    return PlotData(type="plotly", plot=text) if value.is_figure else text


def _nbytes(answer: tuple[Any]) -> int:
    """About what an answer takes in memory."""
    sizes: list[int] = []
    _mapped(
        lambda value: sizes.append(sys.getsizeof(value.data if isinstance(value, Compressed) else str(value))),
        answer[0],
    )
    return OVERHEAD + sum(sizes)
