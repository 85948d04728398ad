"""Whose vectors change with the last word."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """How many tokens the input has."""
    return Answer(facts={"tokens": len(services.run(sentence).encoding)})
