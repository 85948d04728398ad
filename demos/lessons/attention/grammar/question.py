"""The question about the best fixed offset from an object to its verb, answered beside the best head."""

from __future__ import annotations

from demos.counting import counted
from demos.lessons.attention.grammar.scores import relations_of
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

OFFERED = {"few": 0.1, "half": 0.5, "most": 0.9}


def answer(services: Services, sentence: Sentence) -> Answer:
    """The share offered that is nearest to the offset's, which no model changes, with the figures of this model."""
    relation = relations_of(services, sentence.model)["object"]
    best = relation.best
    key = min(OFFERED, key=lambda name: abs(OFFERED[name] - relation.baseline))
    facts = {"layer": counted(best.layer), "head": counted(best.head), "share": best.accuracy}
    return Answer(keys=frozenset({key}), facts=facts | {"baseline": relation.baseline})
