"""The few examples of a data set that a benchmark's short form is content with."""

from __future__ import annotations

from dataclasses import replace

from demos.training.tasks.classification.data import Dataset, Example


def few(data: Dataset, count: int) -> Dataset:
    """`count` examples of each split, from its begin to its end, so that every class is likely to have some."""

    def some(split: tuple[Example, ...]) -> tuple[Example, ...]:
        return split[:: max(1, len(split) // count)][:count]

    return replace(data, train=some(data.train), validation=some(data.validation), test=some(data.test))
