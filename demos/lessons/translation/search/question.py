"""The question about greedy decoding, answered with the translations that only a beam finds."""

from __future__ import annotations

from demos.bert.translation.searching import missed
from demos.lessons.translation.search.part import OPENING, WIDTH
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The number of sentences found by computation."""
    return Answer(facts={"width": WIDTH, "found": len(missed(OPENING, WIDTH))})
