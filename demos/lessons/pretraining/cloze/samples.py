"""The measured accuracies in assets/data/cloze.json: prompts and fine-tuning on the same few examples."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean

from demos.files import DATA

SAMPLE = DATA / "cloze.json"


@dataclass(frozen=True)
class Sample:
    """The measurements of `command`: for each method and number of examples of each class, an accuracy a draw."""

    command: str
    model: str
    test: int  # examples
    pattern: str
    label_words: tuple[str, str]
    accuracy: Mapping[str, Mapping[int, tuple[float, ...]]]

    @property
    def draws(self) -> int:
        return max(len(scores) for by_number in self.accuracy.values() for scores in by_number.values())

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of examples, ascending."""
        return tuple(sorted({number for by_number in self.accuracy.values() for number in by_number}))

    @property
    def standard_error(self) -> float:
        """The standard error, in percentage points, of a share near 60% of `test` examples."""
        return 100 * sqrt(0.6 * 0.4 / self.test)

    def with_examples(self, rule: str) -> float:
        """The mean accuracy of the prompt by this rule over the numbers of examples, 0 left out."""
        return fmean(self.mean(rule, number) for number in self.numbers if number)

    def mean(self, method: str, number: int) -> float:
        return fmean(self.accuracy[method][number])


@cache
def sample() -> Sample:
    """The file, read."""
    plain = json.loads(SAMPLE.read_text(encoding="utf-8"))
    accuracy = {
        method: {int(number): tuple(scores) for number, scores in by_number.items()}
        for method, by_number in plain["accuracy"].items()
    }
    positive, negative = plain["label_words"]
    return Sample(plain["command"], plain["model"], plain["test"], plain["pattern"], (positive, negative), accuracy)
