"""The bundled translators' results for a sentence, kept for all readers: moving a slider translates nothing again."""

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import torch

from demos.bert.decoding.beam import Candidate, Hypothesis
from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.bert.translation.bundled import bundled
from demos.bert.translation.decoding import Trained

MOST_BYTES = 8 * 2**20  # a dozen sentences of the Transformer, hundreds of a GRU
OBJECT = 64  # bytes of a number or a word
Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")


class Kept:
    """The latest results of a translator's functions, within MOST_BYTES; safe for many threads."""

    def __init__(self, memory: Budget | None = None) -> None:
        self._results: Recent[Any] = Recent(MOST_BYTES, nbytes, memory, "translations")

    def __call__(
        self,
        function: Callable[Concatenate[Trained, Inputs], Result],
        kind: str,
        *inputs: Inputs.args,
        **named: Inputs.kwargs,
    ) -> Result:
        """`function` of the bundled translator of this kind and of the arguments. An error is not kept."""
        key: Hashable = (function, kind, inputs, *named.items())
        return self._results.make(key, lambda take: function(bundled(kind), *inputs, **named))


def nbytes(value: Any) -> float:
    """About what a result takes in memory."""
    if isinstance(value, torch.Tensor):
        return value.nbytes
    if isinstance(value, Candidate | Hypothesis):
        return 8 * OBJECT
    if isinstance(value, tuple | list):
        return OBJECT + sum(map(nbytes, value))
    if is_dataclass(value):
        return OBJECT + sum(nbytes(getattr(value, field.name)) for field in fields(value))
    return OBJECT
