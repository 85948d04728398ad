"""The question about the probabilities of “great” and “terrible” without a sentence and after it."""

from __future__ import annotations

from demos.bert.pretraining.cloze import LABEL_WORDS, PATTERNS, read_prompts
from demos.errors import UserError
from demos.figures.token_chips import token_label
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """By the first pattern and the first label words, without a solved example."""
    if not sentence.text.strip():
        raise UserError("There is no sentence to judge; type one.")
    pretrained = services.pretrained(sentence.model)
    with_text, without = read_prompts(pretrained, [sentence.text, ""], (), PATTERNS[0], LABEL_WORDS[0])
    facts = {
        word + suffix: guess.probability
        for reading, suffix in ((with_text, ""), (without, "_alone"))
        for word, guess in zip(LABEL_WORDS[0], reading.words, strict=True)
    }
    return Answer(facts=facts | {"first": token_label(with_text.best[0].token)})
