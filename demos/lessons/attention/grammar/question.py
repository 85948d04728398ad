"""How well the best head finds an object's verb, beside the best fixed offset."""

from __future__ import annotations

from demos.counting import counted
from demos.lessons.attention.grammar.scores import relations_of
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

MARGIN = 0.1  # over the baseline, for a head to count as better


def answer(services: Services, sentence: Sentence) -> Answer:
    """The right choice with the figures of this model."""
    relation = relations_of(services, sentence.model)["object"]
    best = relation.best
    facts = {"layer": counted(best.layer), "head": counted(best.head), "share": best.accuracy}
    key = "some" if best.accuracy > relation.baseline + MARGIN else "none"
    return Answer(keys=frozenset({key}), facts=facts | {"baseline": relation.baseline})
