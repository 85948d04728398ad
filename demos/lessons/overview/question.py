"""The question about the number of vectors after the last layer."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of tokens, special ones included, and the numbers that the wrong answers count."""
    run = services.run(sentence)
    _, tokens, width = run.hidden_states.shape
    words = len(f"{sentence.text} {sentence.text_pair}".split())
    pieces = tokens - sum(run.encoding.special_tokens_mask)
    return Answer(facts={"tokens": tokens, "width": width, "words": words, "pieces": pieces})
