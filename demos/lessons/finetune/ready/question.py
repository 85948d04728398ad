"""The question about the storage for one more task."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services

ADAPTER, ENCODER = 0.7, 22.7  # millions of weights, as the question says
FLOAT = 4  # bytes of a weight of the encoder; one of an adapter has one
TASKS = 5


def answer(_: Services, __: Sentence) -> Answer:
    """The size of one adapter, in millions of bytes, independent of the sentence."""
    mistakes = {"whole": ENCODER * FLOAT + ADAPTER, "five": TASKS * ADAPTER, "float": FLOAT * ADAPTER, "nothing": 0.0}
    return Answer(number=ADAPTER, mistakes=mistakes)
