"""The question about the attention weights of one translation over its English words."""

from __future__ import annotations

from itertools import pairwise

from demos.bert.translation.bundled import bundled, read_sentence
from demos.bert.translation.decoding import steps
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, english: str) -> Answer:
    """The key: whether the largest weights only move forward, or also back."""
    written, decoded = steps(bundled("additive"), read_sentence(str(english or "")))
    most = decoded.weights[0].argmax(-1).tolist()
    back = sum(later < earlier for earlier, later in pairwise(most))
    return Answer(keys=frozenset({"crossed" if back else "diagonal"}), facts={"back": back, "words": len(written) - 1})
