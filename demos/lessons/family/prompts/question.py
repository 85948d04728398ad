"""The median rank of a task's answers without and with examples."""

from __future__ import annotations

from demos.bert.family.members import OUR_DECODER
from demos.lessons.family.prompts.figure import medians_of
from demos.lessons.family.prompts.models import answers, model_of, task_of, writer_of
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, task: str) -> Answer:
    """Of the task that is open, by our decoder."""
    chosen, model = task_of(task), model_of(services, writer_of(OUR_DECODER))
    zero, *_, few = medians_of(answers(model, chosen))
    return Answer(facts={"name": chosen.name, "zero": zero, "few": few})
