"""The question about the size of a saved model."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services

BYTES, BITS = 4, 32  # of a float32
BUNDLED_MILLIONS = 22.7  # weights of the bundled encoder, as the question says


def answer(services: Services, sentence: Sentence) -> Answer:
    """The bytes of the bundled encoder, in millions; and those of the reader's."""
    count = sum(weights.numel() for weights in services.loaded(sentence.model).model.parameters())
    facts = {"parameters": f"{count:,}", "size": count * BYTES / 1e6}
    mistakes = {"changed": 0.0, "byte": BUNDLED_MILLIONS, "bits": BUNDLED_MILLIONS * BITS}
    return Answer(number=BUNDLED_MILLIONS * BYTES, facts=facts, mistakes=mistakes)
