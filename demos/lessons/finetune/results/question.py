"""What a next-sentence head says of each ending, before anything is trained to choose one."""

from __future__ import annotations

from demos.bert.pretraining.next_sentence import IS_NEXT, next_probabilities
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

FIRST = "On stage, a woman takes a seat at the piano."
ENDINGS = {
    "bench": "sits on a bench as her sister plays with the doll.",
    "smiles": "smiles with someone as the music plays.",
    "crowd": "is in the crowd, watching the dancers.",
    "keys": "nervously sets her fingers on the keys.",
}


def answer(services: Services, sentence: Sentence) -> Answer:
    """By ending: the probability that it follows, by the reader's model; a dash where it has no such head."""
    try:
        pairs = [(FIRST, f"She {ending}") for ending in ENDINGS.values()]
        chances = next_probabilities(services.pretrained(sentence.model), pairs).probabilities[:, IS_NEXT]
    except UserError:
        return Answer(facts=dict.fromkeys(ENDINGS, "–"))
    return Answer(facts={name: f"{chance:.0%}" for name, chance in zip(ENDINGS, chances, strict=True)})
