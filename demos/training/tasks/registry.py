"""Which task a data set sets, and a kept model's task read again: the one list of all tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Splits
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.data import EntityDataset
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multiple_choice.data import ChoiceDataset
from demos.training.tasks.multiple_choice.task import MultipleChoice
from demos.training.tasks.question_answering.data import QuestionDataset
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.siamese.data import PairDataset
from demos.training.tasks.siamese.task import Siamese
from demos.training.tasks.task import Task

KINDS: Mapping[str, type] = {
    "classification": Classification,
    "choice": MultipleChoice,
    "entities": Entities,
    "question": QuestionAnswering,
    "siamese": Siamese,
}


def task_of(dataset: Splits, settings: Settings) -> Task:
    """The task that this data set and these settings describe. Raises TypeError for data no task is known for."""
    if isinstance(dataset, PairDataset):
        return Siamese(settings.pooling, dataset.top)
    if isinstance(dataset, Dataset):
        return Classification.of(dataset.labels, settings, dataset.counts("train"), dataset.kind == "pair")
    if isinstance(dataset, ChoiceDataset):
        return MultipleChoice.of(dataset.choices, settings)
    if isinstance(dataset, EntityDataset):
        return Entities.of(dataset, settings)
    if isinstance(dataset, QuestionDataset):
        return QuestionAnswering.of(settings)
    raise TypeError(f"no task is known for {type(dataset).__name__}")


def kind_of(task: Task) -> str:
    """The name under which a task is kept."""
    return next(kind for kind, known in KINDS.items() if type(task) is known)


def read_task(kind: str, fields: Mapping[str, Any]) -> Task:
    """A task from its name and its fields as JSON has them; lists are tuples again."""
    task: Task = KINDS[kind](
        **{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    )
    return task
