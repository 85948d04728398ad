"""The question about the verb, answered with the network's probabilities after both beginnings."""

from __future__ import annotations

from demos.bert.recurrent.bundled import bundled
from demos.bert.recurrent.writing import read_beginning, write
from demos.bert.translation.gru import END
from demos.lessons.translation.recurrent.part import PLURAL, SINGULAR
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The probabilities of both verbs."""
    facts = {"were": chance(PLURAL, "were"), "was": chance(PLURAL, "was"), "singular": chance(SINGULAR, "was")}
    return Answer(facts=facts)


def chance(beginning: str, word: str) -> float:
    """P(word | beginning)."""
    trained = bundled()
    typed = read_beginning(trained, beginning)
    step = write(trained, typed)[len(typed)]
    return step.probabilities[trained.vocabulary.ids[word] - END].item()
