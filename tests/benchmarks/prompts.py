"""What GPT-2 and T5 small answer to every prompt of “Zero, one, few examples”, with the rank of the correct answer.

    HF_HUB_OFFLINE=0 python tests/benchmarks prompts [--write]

Both come from the Hub, at their pinned revisions, or from its cache on this machine. `--write` writes
assets/data/prompt_answers.json, which the page shows; a model that can't be had keeps the answers that it had there.
"""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.causal.prompts import SHOTS, TASKS
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.lessons.family.prompts.models import WRITERS
from demos.lessons.family.prompts.stored import measured, write_stored
from demos.page.services import Services


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """A line for each model and task: how many of the answers are written out; in short the first task alone."""
    services, models = Services(ModelStore(), BUNDLED), []
    tasks = TASKS[:1] if short else TASKS
    for member in filter(lambda one: one.hub_id, WRITERS.values()):
        try:
            model = measured(services, member, tasks)
        except UserError as error:
            print(f"  {member.title}: 0 answers: {error}", flush=True)
            continue
        models.append(model)
        for task in tasks:
            found = [(answer, model.of(task, at)) for at, (_, answer) in enumerate(task.pairs)]
            for number, shots in enumerate(SHOTS[: len(found[0][1])]):
                written = sum(answers[number].text.strip().startswith(answer) for answer, answers in found)
                print(f"  {member.title}: {task.name}, {shots} examples: {written} of {len(found)} written", flush=True)
    if "--write" in options and models:
        write_stored(models)
