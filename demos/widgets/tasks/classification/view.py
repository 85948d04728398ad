"""A class for one sentence, or for a pair of them, which BERT reads as one sequence."""

from collections.abc import Sequence
from typing import Any, ClassVar

from demos.figures.confusion import confusion_figure
from demos.figures.scores_text import (
    chances_html,
    dataset_html,
    mistakes_html,
    numbers_html,
    one_line,
    scores_html,
)
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.events import Result
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.classification.task import example_of
from demos.widgets.live_curve.live_curve import Watcher
from demos.widgets.tasks.examples import encoded, segment_chips
from demos.widgets.tasks.task_view import WATCHED_LENGTH, Looks, TaskView

TEXT = templates(__file__)
PAIR_LENGTH = 70  # characters: a pair is shown that is about so long
NAME_LENGTH = 18  # of a class


class SentenceView(TaskView):
    kind, order, word, scheme = "sentence", 1, "Sentence", "one class"
    boxes: ClassVar[tuple[tuple[str, str], ...]] = (("Your own sentence", "I can't believe you remembered!"),)
    cut = False
    scores, figure, mistakes = staticmethod(scores_html), staticmethod(confusion_figure), staticmethod(mistakes_html)
    example_of = staticmethod(example_of)

    def data(self, dataset: Dataset, tokenizer: Any) -> str:
        return dataset_html(dataset)

    def numbers(self, outcome: Result, looks: Looks, per_epoch: int) -> str:
        return TEXT.numbers(numbers_html(outcome, looks, per_epoch), outcome.calibration)

    def answer(self, task: Any, answer: Sequence[float], boxes: Sequence[str]) -> str:
        return chances_html(dict(zip(task.labels, answer, strict=True)), task.labels, " / ".join(filter(None, boxes)))

    def in_words(self, task: Any, answer: Sequence[float], boxes: Sequence[str]) -> str:
        return str(task.labels[answer.index(max(answer))])

    def watcher(self, dataset: Dataset) -> Watcher:
        """Each class's probability."""

        def label_of(place: int) -> tuple[str, int]:
            example = dataset.validation[place]
            return short(one_line(example), WATCHED_LENGTH), example.label

        return Watcher(tuple(short(label, NAME_LENGTH) for label in dataset.labels), label_of, lambda _, answer: answer)


class PairView(SentenceView):
    kind, order, word, scheme = "pair", 3, "Two sentences", "class of a pair"
    boxes = (
        ("First sentence", "The lake was frozen all winter."),
        ("Second sentence", "All winter long, there was ice on the lake."),
    )
    cut = True

    def data(self, dataset: Dataset, tokenizer: Any) -> str:
        """The classes, and one training pair as BERT reads it: two segments of one sequence."""
        example = min(dataset.train, key=lambda pair: abs(len(pair.text) + len(pair.pair) - PAIR_LENGTH))
        encoding = encoded(example.text, example.pair, tokenizer)
        rows = [
            {"label": f"Segment {segment} of the pair", "chips": segment_chips(encoding, segment)} for segment in (0, 1)
        ]
        own = dataset.source == "entailment"
        return TEXT.pair(dataset_html(dataset), label=dataset.labels[example.label], rows=rows, own_entailment=own)


VIEWS = (SentenceView(), PairView())
