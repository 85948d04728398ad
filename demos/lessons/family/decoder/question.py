"""The question about the words that a decoder may use, answered with its first guess after the reader's text."""

from __future__ import annotations

from demos.bert.causal.writing import Method, beginning, next_word
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The likeliest next word piece, its probability, and the entropy."""
    decoder = services.decoder()
    prediction = next_word(decoder, beginning(decoder, sentence.text), Method(), 1)
    guess = prediction.chosen.guess
    return Answer(facts={"piece": guess.token, "chance": guess.probability, "entropy": prediction.entropy})
