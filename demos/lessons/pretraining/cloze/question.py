"""The question about the probabilities of “great” and “terrible” without a sentence and after it."""

from __future__ import annotations

import math

from demos.bert.pretraining.cloze import LABEL_WORDS, PATTERNS, read_prompts
from demos.errors import UserError
from demos.figures.token_chips import token_label
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

ALIKE = 0.05  # probabilities that differ by a smaller share are the same


def answer(services: Services, sentence: Sentence) -> Answer:
    """The key: whether both are alike without a sentence; by the first pattern and label words, no solved example."""
    if not sentence.text.strip():
        raise UserError("There is no sentence to judge; type one.")
    pretrained = services.pretrained(sentence.model)
    with_text, without = read_prompts(pretrained, [sentence.text, ""], (), PATTERNS[0], LABEL_WORDS[0])
    facts = {
        word + suffix: guess.probability
        for reading, suffix in ((with_text, ""), (without, "_alone"))
        for word, guess in zip(LABEL_WORDS[0], reading.words, strict=True)
    }
    key = "equal" if math.isclose(*(guess.probability for guess in without.words), rel_tol=ALIKE) else "unequal"
    return Answer(keys=frozenset({key}), facts=facts | {"first": token_label(with_text.best[0].token)})
