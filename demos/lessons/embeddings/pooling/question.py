"""The sizes of a sentence's pooled vector and of its last hidden layer."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """n and d of the reader's own input, and its words."""
    _, tokens, width = services.run(sentence).hidden_states.shape
    words = len(f"{sentence.text} {sentence.text_pair}".split())
    return Answer(facts={"words": words, "tokens": tokens, "size": width, "total": f"{tokens * width:,}"})
