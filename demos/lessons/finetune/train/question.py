"""Why a classifier reads a pooled vector."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services

CLASSES = 6


def answer(services: Services, sentence: Sentence) -> Answer:
    """The weights of a linear classifier with and without pooling, without its biases."""
    _, tokens, width = services.run(sentence).hidden_states.shape
    sizes = {"pooled": CLASSES * width, "unpooled": CLASSES * tokens * width}
    return Answer(facts={"tokens": tokens} | {name: f"{size:,}" for name, size in sizes.items()})
