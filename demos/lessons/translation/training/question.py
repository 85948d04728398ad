"""The question about the sentences on which a translator without attention fails."""

from __future__ import annotations

from demos.bert.translation.bundled import bundled, right
from demos.bert.translation.grammar import held_out
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

SHORT, LONG = range(7), range(13, 100)  # English words


def answer(services: Services, sentence: Sentence) -> Answer:
    """The shares of correct sentences, short and long."""
    facts: dict[str, object] = {"width": bundled("none").model.output.in_features}
    for name, score in (("with", "additive"), ("without", "none")):
        for length, words in (("short", SHORT), ("long", LONG)):
            pairs = zip(held_out(), right(score), strict=True)
            of_length = [is_right for pair, is_right in pairs if len(pair.source) in words]
            facts[f"{name}_{length}"] = sum(of_length) / len(of_length)
    return Answer(facts=facts)
