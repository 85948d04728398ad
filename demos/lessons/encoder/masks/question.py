"""The question about the vectors that change with the last word."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of tokens in the input."""
    return Answer(facts={"tokens": len(services.run(sentence).encoding)})
