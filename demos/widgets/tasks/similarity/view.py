"""A number for a pair or a text: scores of the data, predictions against them, a gauge for a person's own."""

import math
from collections.abc import Sequence
from typing import Any

from demos.bert.embeddings.agreement import Pair
from demos.errors import UserError
from demos.figures.palette import CLASSES
from demos.figures.scores_text import class_row
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.similarity.data import SimilarityDataset
from demos.training.tasks.similarity.task import Scored, Similarity, SimilarityResult, example_of
from demos.widgets.tasks.examples import encoded, segment_chips
from demos.widgets.tasks.similarity.figure import scatter_figure
from demos.widgets.tasks.task_view import Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 40
FEW = 500  # training examples
EXAMPLE_LENGTH = 70  # characters: an example is shown that is about so long


class SimilarityView(TaskView):
    """A score for a pair or a text."""

    kind, order, word, scheme = "similarity", 7, "Score", "of a text or pair"
    boxes = (
        ("First sentence", "The train was two hours late."),
        ("Second sentence", "The train arrived two hours late."),
    )
    figure, example_of = staticmethod(scatter_figure), staticmethod(example_of)

    def data(self, dataset: SimilarityDataset, tokenizer: Any) -> str:
        """The training examples' scores, point by point, and one example as BERT reads it."""
        points, single = dataset.points, dataset.single
        by_point: dict[int, list[Pair]] = {point: [] for point in points}
        for pair in dataset.train:
            by_point[_point(pair.score, points)].append(pair)
        most = max(map(len, by_point.values()))
        rows = []
        for point, pairs in reversed(by_point.items()):
            texts = (pairs[0].first, pairs[0].second) if pairs else ("", "")
            rows.append(class_row(f"about {point}", CLASSES[0], len(pairs), most, texts))
        example = min(dataset.train, key=lambda pair: abs(len(pair.first) + len(pair.second) - EXAMPLE_LENGTH))
        encoding = encoded(example.first, example.second, tokenizer)
        labels = ["The text"] if single else ["Segment 0 of the pair", "Segment 1 of the pair"]
        segments = [{"label": label, "chips": segment_chips(encoding, at)} for at, label in enumerate(labels)]
        few = len(dataset.train) < FEW
        return TEXT.data(dataset, rows=rows, score=example.score, segments_of=segments, few=few, single=single)

    def scores(self, outcome: SimilarityResult, stopped: bool) -> str:
        return TEXT.scores(outcome, stopped)

    def mistakes(self, outcome: SimilarityResult) -> str:
        """The examples whose prediction is farthest off."""
        rows = [
            {"texts": [short(text, 300) for text in (pair.first, pair.second)], "scored": pair}
            for pair in outcome.mistakes[:SHOWN_MISTAKES]
        ]
        return TEXT.mistakes(rows=rows, count=len(outcome.answers), noun=outcome.noun)

    def numbers(self, outcome: SimilarityResult, looks: Looks, per_epoch: int) -> str:
        """Every look, and the picture's twin: predictions by gold score."""
        return TEXT.numbers(looks, per_epoch, _by_point(outcome.answers, outcome.points), outcome.noun)

    def answer(self, task: Similarity, answer: Sequence[float], boxes: Sequence[str]) -> str:
        pair = example_of(boxes)
        if not (task.single or pair.second):
            raise UserError("Write both sentences.")
        return TEXT.answer(
            first=short(pair.first, 120),
            second=short(pair.second, 120),
            score=answer[0],
            trained=task.trained_range,
            points=task.points,
            single=task.single,
        )

    def in_words(self, task: Similarity, answer: Sequence[float], boxes: Sequence[str]) -> str:
        return f"{answer[0]:.1f}"

    def agrees(self, said: str, correct: str) -> bool:
        """Within a point of the scale from 0 to 5."""
        return abs(float(said) - float(correct)) <= 1

    def watcher(self, dataset: SimilarityDataset) -> None:
        """None: what is watched has classes."""


VIEWS = (SimilarityView(),)


def _point(score: float, points: Sequence[int]) -> int:
    """The point next to a score; of two the higher."""
    return points[math.floor((score - points[0]) / (points[1] - points[0]) + 0.5)]


def _by_point(answers: Sequence[Scored], points: Sequence[int]) -> list[tuple[int, int, float, float]]:
    """(about this gold score, test examples, mean prediction, mean distance from it) where there are any."""
    rows = []
    for point in points:
        pairs = [pair for pair in answers if _point(pair.gold, points) == point]
        if pairs:
            predicted = sum(pair.predicted for pair in pairs) / len(pairs)
            rows.append((point, len(pairs), predicted, sum(abs(pair.error) for pair in pairs) / len(pairs)))
    return rows
