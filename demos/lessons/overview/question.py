"""How many vectors leave the last layer."""

from __future__ import annotations

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """One a token, the special ones among them; and how many the misconceptions count."""
    run = services.run(sentence)
    _, tokens, width = run.hidden_states.shape
    words = len(f"{sentence.text} {sentence.text_pair}".split())
    pieces = tokens - sum(run.encoding.special_tokens_mask)
    return Answer(facts={"tokens": tokens, "width": width, "words": words, "pieces": pieces})
