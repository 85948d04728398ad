"""The median rank of a task's answers without and with examples."""

from __future__ import annotations

from statistics import median

from demos.bert.causal.prompts import SHOTS, TASKS, answered
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, task: str) -> Answer:
    """Of the task that is open."""
    chosen = next((each for each in TASKS if each.name == task), TASKS[0])
    decoder = services.decoder()

    def ranks(shots: int) -> list[int]:
        return [answered(decoder, chosen.prompt(at, shots), pair[1]).rank for at, pair in enumerate(chosen.pairs)]

    return Answer(facts={"name": chosen.name, "zero": median(ranks(SHOTS[0])), "few": median(ranks(SHOTS[-1]))})
