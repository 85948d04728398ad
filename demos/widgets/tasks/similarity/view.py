"""The similarity of a pair as a number: scores of the data, predictions against them, a gauge for a person's pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from demos.bert.embeddings.agreement import Pair
from demos.figures.palette import CLASSES
from demos.figures.scores_text import class_row
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.similarity.data import HIGHEST, LOWEST, SimilarityDataset
from demos.training.tasks.similarity.task import Scored, Similarity, SimilarityResult, example_of
from demos.widgets.tasks.examples import encoded, segment_chips
from demos.widgets.tasks.similarity.figure import scatter_figure
from demos.widgets.tasks.task_view import Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 40
FEW = 500  # training pairs
PAIR_LENGTH = 70  # characters: a pair is shown that is about so long
POINTS = range(int(LOWEST), int(HIGHEST) + 1)


class SimilarityView(TaskView):
    """A score for a pair."""

    kind, order, word, scheme = "similarity", 7, "Similarity", "score of a pair"
    boxes = (
        ("First sentence", "A man is playing a guitar."),
        ("Second sentence", "Somebody plays an instrument."),
    )
    figure, example_of = staticmethod(scatter_figure), staticmethod(example_of)

    def data(self, dataset: SimilarityDataset, tokenizer: Any) -> str:
        """The training pairs' scores, point by point, and one pair as BERT reads it."""
        by_point: dict[int, list[Pair]] = {point: [] for point in POINTS}
        for pair in dataset.train:
            by_point[_point(pair.score)].append(pair)
        most = max(map(len, by_point.values()))
        rows = []
        for point, pairs in reversed(by_point.items()):
            texts = (pairs[0].first, pairs[0].second) if pairs else ("", "")
            rows.append(class_row(f"about {point}", CLASSES[0], len(pairs), most, texts))
        example = min(dataset.train, key=lambda pair: abs(len(pair.first) + len(pair.second) - PAIR_LENGTH))
        encoding = encoded(example.first, example.second, tokenizer)
        segments = [
            {"label": f"Segment {segment} of the pair", "chips": segment_chips(encoding, segment)} for segment in (0, 1)
        ]
        few = len(dataset.train) < FEW
        return TEXT.data(dataset, rows=rows, score=example.score, segments_of=segments, few=few)

    def scores(self, outcome: SimilarityResult, stopped: bool) -> str:
        return TEXT.scores(outcome, stopped)

    def mistakes(self, outcome: SimilarityResult) -> str:
        """The pairs whose prediction is farthest off."""
        rows = [
            {"texts": [short(text, 300) for text in (pair.first, pair.second)], "scored": pair}
            for pair in outcome.mistakes[:SHOWN_MISTAKES]
        ]
        return TEXT.mistakes(rows=rows, count=len(outcome.answers))

    def numbers(self, outcome: SimilarityResult, looks: Looks, per_epoch: int) -> str:
        """Every look, and the picture's twin: predictions by gold score."""
        return TEXT.numbers(looks, per_epoch, _by_point(outcome.answers))

    def answer(self, task: Similarity, answer: Sequence[float], boxes: Sequence[str]) -> str:
        pair = example_of(boxes)
        return TEXT.answer(
            first=short(pair.first, 120), second=short(pair.second, 120), score=answer[0], trained=task.trained_range,
            lowest=LOWEST, highest=HIGHEST, points=POINTS,
        )  # fmt: skip

    def watcher(self, dataset: SimilarityDataset) -> None:
        """None: what is watched has classes."""


VIEWS = (SimilarityView(),)


def _point(score: float) -> int:
    """The whole point next to a score; of two the higher."""
    return math.floor(score + 0.5)


def _by_point(answers: Sequence[Scored]) -> list[tuple[int, int, float, float]]:
    """(about this gold score, test pairs, mean prediction, mean distance from the gold score) where there are any."""
    rows = []
    for point in POINTS:
        pairs = [pair for pair in answers if _point(pair.gold) == point]
        if pairs:
            predicted = sum(pair.predicted for pair in pairs) / len(pairs)
            rows.append((point, len(pairs), predicted, sum(abs(pair.error) for pair in pairs) / len(pairs)))
    return rows
