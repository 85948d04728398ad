"""The latest drawings, for the whole hall: the same view with the same choices is computed once for all readers."""

import hashlib
import sys
from collections.abc import Callable, Generator
from typing import Any

from gradio.components.plot import PlotData

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import OnceCache
from demos.page.drawing.drawn import drawable, names_components

MAX_BYTES = 32 * 2**20  # of all drawings together: about a thousand
OVERHEAD = 1_000  # bytes that an answer takes beside its texts


class Drawings:
    """Answers of pure handlers by their inputs; the least recently used go. Safe for many threads.

    Of the first input, a sentence, that counts which `alike` gives.
    """

    def __init__(
        self,
        most_bytes: int = MAX_BYTES,
        memory: Budget | None = None,
        alike: Callable[[Any], Any] = lambda sentence: sentence,
    ) -> None:
        self._answers: OnceCache[None, Any] = OnceCache(most_bytes, _nbytes, memory, "drawings")
        self._handlers = 0
        self._alike = alike

    def remembered(self, show: Callable[..., Any]) -> Callable[..., Any]:
        """The answer of `show`, computed once for each of its inputs. An error is not kept."""
        self._handlers += 1
        number = self._handlers

        def recall(sentence: Any, *inputs: Any) -> Any:
            known_by = number, self._alike(sentence), inputs
            key = hashlib.sha256(repr(known_by).encode("utf-8", "surrogatepass")).digest()

            def draw() -> Generator[None, None, Any]:
                yield from ()
                return _mapped(drawable, show(sentence, *inputs))

            return _mapped(_own, self._answers.get(key, draw, None))

        return recall


def _mapped(function: Callable[[Any], Any], answer: Any) -> Any:
    """The answer with `function` of each of its values: one, a sequence, a dict by component."""
    if names_components(answer):
        return {component: function(value) for component, value in answer.items()}
    return [function(value) for value in answer] if isinstance(answer, list | tuple) else function(answer)


def _own(value: Any) -> Any:
    """An update that a reader's answer may be taken apart from, as Gradio does; other values are never changed."""
    return dict(value) if isinstance(value, dict) else value


def _nbytes(answer: tuple[Any]) -> int:
    """About what an answer takes in memory."""
    sizes: list[int] = []

    def add(value: Any) -> None:
        value = value["value"] if isinstance(value, dict) and "value" in value else value
        sizes.append(sys.getsizeof(value.plot if isinstance(value, PlotData) else str(value)))

    _mapped(add, answer[0])
    return OVERHEAD + sum(sizes)
