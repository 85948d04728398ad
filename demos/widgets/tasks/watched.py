"""What is watched of each task's validation examples while a run learns: their words, and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from demos.figures.short_text import short
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.entities.data import OUTSIDE, EntityDataset
from demos.training.tasks.multiple_choice.data import ChoiceDataset
from demos.training.tasks.questions.data import QuestionDataset
from demos.training.tasks.questions.events import SpanAnswer
from demos.training.tasks.questions.scores import token_f1
from demos.widgets.live_curve.live_curve import Watcher

TEXT_LENGTH, NAME_LENGTH = 120, 18  # characters of an example, of a class


def watch_classes(dataset: Dataset) -> Watcher:
    """Each class's probability of a sentence, or of a pair."""

    def told(place: int) -> tuple[str, int]:
        example = dataset.validation[place]
        return short(" / ".join(filter(None, (example.text, example.pair))), TEXT_LENGTH), example.label

    return Watcher(tuple(short(label, NAME_LENGTH) for label in dataset.labels), told, _as_it_is)


def watch_endings(dataset: ChoiceDataset) -> Watcher:
    """Each ending's probability."""

    def told(place: int) -> tuple[str, int]:
        example = dataset.validation[place]
        return short(f"{example.context} {example.start} …{example.endings[example.label]}", TEXT_LENGTH), example.label

    return Watcher(tuple(f"ending {label}" for label in dataset.labels), told, _as_it_is)


def watch_names(dataset: EntityDataset) -> Watcher:
    """How many of the words in a sentence's names have the right label, as a share."""

    def values(place: int, answer: Sequence[tuple[int, float]]) -> tuple[float]:
        labels = dataset.validation[place].labels
        named = [number for number, label in enumerate(labels) if label != OUTSIDE]
        right = sum(number < len(answer) and answer[number][0] == labels[number] for number in named)
        return (right / len(named) if named else sum(label == OUTSIDE for label, _ in answer) / max(1, len(answer)),)

    return Watcher(
        ("of the words in names are right",),
        lambda place: (short(dataset.validation[place].text, TEXT_LENGTH), 0),
        values,
    )


def watch_answers(dataset: QuestionDataset) -> Watcher:
    """How well the best span's words are the right answer's."""

    def told(place: int) -> tuple[str, int]:
        example = dataset.validation[place]
        return short(f"{example.question} {example.answers[0]}", TEXT_LENGTH), 0

    def values(place: int, answer: SpanAnswer) -> tuple[float]:
        example = dataset.validation[place]
        found = example.context[answer.best[0].start : answer.best[0].end] if answer.best else ""
        return (token_f1(found, example.answers),)

    return Watcher(("of the words are the right answer’s (token F1)",), told, values)


def _as_it_is(_: int, answer: Any) -> Sequence[float]:
    chances: Sequence[float] = answer
    return chances
