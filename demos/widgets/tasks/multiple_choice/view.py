"""Multiple choice: an item as its sequences, the correct ending's margins, mistakes, a person's own endings."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.figures.palette import CLASSES
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.multiple_choice.data import LETTERS, ChoiceDataset, ChoiceExample
from demos.training.tasks.multiple_choice.task import ChoiceMistake, ChoiceResult, example_of, sequences_of
from demos.widgets.live_curve.live_curve import Watcher
from demos.widgets.tasks.examples import encoded, segment_chips
from demos.widgets.tasks.multiple_choice.figure import margins_figure
from demos.widgets.tasks.task_view import WATCHED_LENGTH, Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 40
FEW = 1_000  # training items
ITEM_LENGTH = 60  # characters: an item is shown whose texts are about so long


class ChoiceView(TaskView):
    """The right one of several endings."""

    kind, order, word, scheme = "choice", 6, "Choice", "correct ending"
    boxes = (
        ("Context", "The soup was far too hot."),
        ("Beginning of the next sentence", "She"),
        (
            "Endings, one per line",
            "blew on her spoon before she tasted it.\nput it in the freezer with her boots.\n"
            "sang it a song about the sea.\npainted the bowl green and left town.",
        ),
    )
    figure, example_of = staticmethod(margins_figure), staticmethod(example_of)

    def data(self, dataset: ChoiceDataset, tokenizer: Any) -> str:
        """One training item as BERT reads it: a sequence an ending, of which only segment 1 differs."""
        item = min(dataset.train, key=lambda item: abs(len(item.context) + len(item.start) - ITEM_LENGTH))
        rows = []
        for place, (text, ending) in enumerate(sequences_of(item)):
            encoding = encoded(text, ending, tokenizer)
            segments = [segment_chips(encoding, segment) for segment in (0, 1)]
            rows.append({"letter": LETTERS[place], "right": place == item.label, "segments": segments})
        return TEXT.data(dataset, rows=rows, few=len(dataset.train) < FEW)

    def scores(self, outcome: ChoiceResult, stopped: bool) -> str:
        return TEXT.scores(outcome, stopped)

    def mistakes(self, outcome: ChoiceResult) -> str:
        """Each ending with its probability."""
        rows = [
            {**_begun(mistake), "endings": _endings(mistake.endings, mistake.probabilities, mistake.label)}
            for mistake in outcome.mistakes[:SHOWN_MISTAKES]
        ]
        return TEXT.mistakes(rows=rows, count=len(outcome.mistakes), most=SHOWN_MISTAKES)

    def numbers(self, outcome: ChoiceResult, looks: Looks, per_epoch: int) -> str:
        return TEXT.numbers(looks, per_epoch, outcome.calibration)

    def answer(self, task: Any, answer: Sequence[float], boxes: Sequence[str]) -> str:
        item = example_of(boxes)
        return TEXT.answer(
            item=_begun(item), best=LETTERS[int(np.argmax(answer))], endings=_endings(item.endings, answer)
        )

    def in_words(self, task: Any, answer: Sequence[float], boxes: Sequence[str]) -> str:
        return str(example_of(boxes).endings[int(np.argmax(answer))])

    def watcher(self, dataset: ChoiceDataset) -> Watcher:
        """Each ending's probability."""

        def label_of(place: int) -> tuple[str, int]:
            item = dataset.validation[place]
            return short(f"{item.context} {item.start} …{item.endings[item.label]}", WATCHED_LENGTH), item.label

        return Watcher(tuple(f"ending {label}" for label in dataset.labels), label_of, lambda _, answer: answer)


VIEWS = (ChoiceView(),)


def _begun(item: ChoiceMistake | ChoiceExample) -> dict[str, str]:
    return {"context": short(item.context, 300), "start": short(item.start, 120)}


def _endings(endings: Sequence[str], shares: Sequence[float], right: int | None = None) -> list[dict[str, str | float]]:
    """The endings with a probability each, in their own order; which is likeliest, and which is right."""
    return [
        {
            "letter": LETTERS[place],
            "text": short(ending, 160),
            "share": share,
            "hue": CLASSES[place % len(CLASSES)],
            "best": place == int(np.argmax(shares)),
            "right": place == right,
        }
        for place, (ending, share) in enumerate(zip(endings, shares, strict=True))
    ]
