"""A siamese training in words: the two towers with one pair's numbers, the scores, the pairs that moved most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.agreement import Correlation
from demos.figures.cosine_heatmap import POOLING_NAMES, short
from demos.templates import templates
from demos.training.events import PairResult
from demos.training.tasks.siamese.data import PairDataset

TEXT = templates(__file__)
SHOWN_NUMBERS = 3
SHOWN_MOVED = 8
SHOWN_PAIRS = 200
ENOUGH = 500  # pairs to train on; fewer are soon memorized


@dataclass(frozen=True)
class Towers:
    """The drawing of one pair on its way through both towers."""

    texts: tuple[str, str]
    tokens: tuple[int, int]
    width: int
    pooling: str
    before: tuple[Sequence[float], Sequence[float], float]  # how each vector begins, and their cosine
    after: tuple[Sequence[float], Sequence[float], float] | None
    rating: float | None  # None for a pair without a rating
    top: float


def towers_html(seen: Towers) -> Markup:
    """Sentence, encoder, token vectors, pooling, one vector: twice, with the same weights; then cosine and loss."""
    return TEXT.towers(seen, [short(text, 90) for text in seen.texts], POOLING_NAMES[seen.pooling])


def scores_html(dataset: PairDataset, before: Correlation, loss_before: float, result: PairResult | None) -> Markup:
    """Agreement and loss on the held-out pairs, before and, where there is a result, after."""
    few = result is not None and len(dataset.train) < ENOUGH and not result.gap.clear
    return TEXT.scores(len(dataset.held_out), len(dataset.train), before, loss_before, result, few)


def moved_html(dataset: PairDataset, result: PairResult) -> Markup:
    """The held-out pairs whose cosine moved most."""
    order = np.argsort(-np.abs(np.subtract(result.after, result.before)), kind="stable")
    return TEXT.moved(_rows(dataset, result, order[:SHOWN_MOVED], 90))


def data_html(dataset: PairDataset, start: str, ours: bool, overlap: bool = False) -> Markup:
    """The pairs, their split, and the weights at the start.

    `overlap`: this model's training data may hold sentences of STS-B, which matters where the pairs are not ours.
    """
    return TEXT.data(dataset, start, ours, overlap)


def numbers_html(
    dataset: PairDataset, result: PairResult, looks: Sequence[Sequence[float | None]], steps: int
) -> Markup:
    """Every evaluation on the held-out pairs, and each pair's cosine before and after."""
    count = len(dataset.held_out)
    pairs = _rows(dataset, result, range(min(count, SHOWN_PAIRS)), 60)
    return TEXT.numbers(looks, steps, pairs, SHOWN_PAIRS, count)


def _rows(dataset: PairDataset, result: PairResult, rows: Iterable[int], length: int) -> list[dict[str, str | float]]:
    return [
        {
            "first": short(dataset.held_out[row].first, length),
            "second": short(dataset.held_out[row].second, length),
            "score": dataset.held_out[row].score,
            "aim": dataset.held_out[row].score / dataset.top,
            "before": result.before[row],
            "after": result.after[row],
        }
        for row in rows
    ]
