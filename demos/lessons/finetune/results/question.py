"""The question about the layers whose attention fine-tuning changes most, answered with the sample run."""

from __future__ import annotations

from demos.counting import counted
from demos.lessons.finetune.results.sample import sample
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

THIRDS = ("first", "middle", "last")


def answer(_: Services, __: Sentence) -> Answer:
    """The layer whose heads moved the largest share of their attention, on average, and the third that it is in."""
    moved = sample().heads.mean(axis=1)  # [L]
    most, least = int(moved.argmax()), int(moved.argmin())
    facts = {"description": sample().description, "layers": len(moved)}
    facts |= {"least": counted(least), "lowest": moved[least], "most": counted(most), "highest": moved[most]}
    return Answer(keys=frozenset({THIRDS[most * 3 // len(moved)]}), facts=facts)
