"""The answers of GPT-2 and T5 small to every prompt of the part: measured where the Hub is, shown where it is not."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from demos.bert.causal.prompts import TASKS, Task
from demos.bert.family.members import BOTH, Member
from demos.files import DATA
from demos.lessons.family.prompts.models import answers_to, model_of, texts
from demos.page.services import Services

STORED = DATA / "prompt_answers.json"  # written by `python tests/benchmarks prompts --write`, never by hand


class Answer(NamedTuple):
    """A model's text after a prompt, and the rank and probability of the correct answer there."""

    text: str
    rank: int
    probability: float


@dataclass(frozen=True)
class Stored:
    """One model's answers, by the prompt."""

    title: str
    hub_id: str
    revision: str
    day: str
    has_encoder: bool
    answers: Mapping[str, Answer]

    def of(self, task: Task, at: int) -> list[Answer]:
        """To each prompt of a question; none if they were not measured, or for other prompts."""
        prompts = task.text_to_text(at) if self.has_encoder else task.prompts(at)
        return [self.answers[prompt] for prompt in prompts if prompt in self.answers]


def measured(services: Services, member: Member, tasks: Sequence[Task] = TASKS) -> Stored:
    """All answers of a member of the Hub. Raises UserError if it can't be had."""
    model, answers = model_of(services, member), {}
    for task in tasks:
        for at in range(len(task.pairs)):
            for result, text in zip(answers_to(model, task, at), texts(model, task, at), strict=True):
                answers[result.prompt] = Answer(text, result.rank, result.probability)
    day = time.strftime("%Y-%m-%d")
    return Stored(member.title, member.hub_id, member.revision, day, member.stack == BOTH, answers)


def write_stored(models: Sequence[Stored], path: Path = STORED) -> None:
    """The models' answers into the file; those of models that are not among these stay."""
    titles = {model.title for model in models}
    every = [*models, *(model for model in read_stored(path) if model.title not in titles)]
    text = json.dumps([asdict(model) for model in sorted(every, key=lambda model: model.title)], indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")


def read_stored(path: Path) -> list[Stored]:
    """The file's models; none where there is no file."""
    if not path.is_file():
        return []
    models = json.loads(path.read_text(encoding="utf-8"))
    return [
        Stored(**model | {"answers": {prompt: Answer(*answer) for prompt, answer in model["answers"].items()}})
        for model in models
    ]


@cache
def stored() -> list[Stored]:
    """The results that are stored with this app."""
    return read_stored(STORED)
