"""How large a saved model is."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services

BYTES = 4  # of a float32


def answer(services: Services, sentence: Sentence) -> Answer:
    """The bytes of the reader's encoder, in millions."""
    count = sum(weights.numel() for weights in services.loaded(sentence.model).model.parameters())
    size = count * BYTES / 1e6
    facts = {"parameters": f"{count:,}", "size": size}
    return Answer(number=size, facts=facts, mistakes={"changed": 0.0, "byte": count / 1e6})
