"""The loss of a model that prefers no word."""

from __future__ import annotations

import math

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """ln V of the reader's model."""
    size = services.loaded(sentence.model).model.config.vocab_size
    loss = math.log(size)
    mistakes = {"zero": 0.0, "one": 1.0, "half": math.log(2)}
    return Answer(number=loss, facts={"vocabulary": f"{size:,}", "loss": loss}, mistakes=mistakes)
