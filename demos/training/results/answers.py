"""The answers of a run, kept beside its model: the test examples and the answers to them, bounded, as one JSON file."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from demos.training.tasks.classification.data import Example
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.multi_label.task import MultiLabel, decisions
from demos.training.tasks.multiple_choice.task import MultipleChoice
from demos.training.tasks.one_of_several import likeliest

FILE = "answers.json"
MAX_EXAMPLES = 2_000
MAX_WORDS = 20_000  # labelled ones; or decisions on one label of a sentence
MAX_CHARACTERS = 2**22


@dataclass(frozen=True)
class StoredAnswers:
    """The answers to m test examples (of names, to m words; of label sets, on m single labels); as many as are kept."""

    total: int  # test examples there were
    confidence: tuple[float, ...]  # [m]: the probability of each answer; none where a task gives no such thing
    right: tuple[bool, ...]  # [m]
    examples: tuple[Example, ...] = ()  # [m], of sentences and pairs
    chances: tuple[tuple[float, ...], ...] = ()  # [m][C]: each class's probability, of sentences and pairs


def stored_answers(task: Any, dataset: Any, answers: Sequence[Any]) -> StoredAnswers:
    """The test split of a finished run; the answers are in the split's order."""
    total = len(dataset.test)
    if isinstance(task, Entities):
        words = [
            (chance, guess == label)
            for example, row in zip(dataset.test, answers, strict=True)
            for (guess, chance), label in zip(row, example.labels, strict=False)  # a long sentence's end is not read
        ][:MAX_WORDS]
        return StoredAnswers(total, tuple(chance for chance, _ in words), tuple(right for _, right in words))
    if isinstance(task, MultiLabel):
        sure, right_labels = decisions(answers, [example.labels for example in dataset.test])
        return StoredAnswers(total, tuple(sure[:MAX_WORDS]), tuple(right_labels[:MAX_WORDS]))
    if not isinstance(task, Classification | MultipleChoice):
        return StoredAnswers(total, (), ())
    rows = [tuple(map(float, row)) for row in answers[:MAX_EXAMPLES]]
    examples = dataset.test[: len(rows)]
    right = [likeliest(row) == example.label for row, example in zip(rows, examples, strict=True)]
    stored = StoredAnswers(total, tuple(map(max, rows)), tuple(right))
    if isinstance(task, MultipleChoice):
        return stored
    count = _fitting(examples)
    return StoredAnswers(
        total, stored.confidence[:count], stored.right[:count], tuple(examples[:count]), tuple(rows[:count])
    )


def _fitting(examples: Sequence[Example]) -> int:
    """The number of them, from the first on, that have MAX_CHARACTERS characters together."""
    room = MAX_CHARACTERS
    for number, example in enumerate(examples):
        room -= len(example.text) + len(example.pair)
        if room < 0:
            return number
    return len(examples)


def write_answers(stored: StoredAnswers, folder: Path) -> None:
    """Put it beside the run's model."""
    document = {**vars(stored), "examples": [astuple(example) for example in stored.examples]}
    (folder / FILE).write_text(json.dumps(document), encoding="utf-8")


def read_answers(folder: Path) -> StoredAnswers:
    """The contents of the file that `write_answers` wrote. Raises FileNotFoundError where there is nothing."""
    document = json.loads((folder / FILE).read_text(encoding="utf-8"))
    document["examples"] = [Example(*fields) for fields in document["examples"]]
    document["chances"] = map(tuple, document["chances"])
    return StoredAnswers(document.pop("total"), **{name: tuple(values) for name, values in document.items()})
