"""The sizes of our translator's cross-attention."""

from __future__ import annotations

from demos.bert.family.attentions import of_our_translator
from demos.bert.family.members import MEMBERS, TRANSLATOR
from demos.bert.translation.transformer_places import CROSS
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """For its example sentence."""
    cross = of_our_translator(MEMBERS[TRANSLATOR].example).kinds[CROSS]
    return Answer(facts={"m": len(cross.rows), "n": len(cross.columns)})
