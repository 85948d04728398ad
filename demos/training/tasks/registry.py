"""The task of a data set, and a kept model's task read again: each folder here whose task.py has a TASK."""

from collections.abc import Mapping
from typing import Any

from demos.files import modules_in
from demos.training.data.splits import Splits
from demos.training.settings import Settings
from demos.training.tasks.task import Task

TASKS: tuple[type[Task], ...] = tuple(module.TASK for module in modules_in("demos.training.tasks", "task").values())


def task_of(dataset: Splits, settings: Settings) -> Task:
    """The task that this data set and these settings describe. Raises TypeError for data no task is known for."""
    for task in TASKS:
        if isinstance(dataset, task.data):
            return task.of(dataset, settings)
    raise TypeError(f"no task is known for {type(dataset).__name__}")


def read_task(kind: str, fields: Mapping[str, Any]) -> Task:
    """A task from its name and its fields as JSON has them; lists are tuples again. Raises KeyError for no task."""
    known = {task.kind: task for task in TASKS}
    return known[kind](**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})
