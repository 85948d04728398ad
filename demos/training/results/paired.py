"""Whether one run is better than another, or lucky: right and wrong answers to the same test examples, or to others."""

import math
from dataclasses import dataclass

from scipy.stats import binomtest

from demos.training.metrics import wilson


@dataclass(frozen=True)
class SameTest:
    """Two runs on the same test: their differences, and the probability of such a result if neither is better."""

    only_first: int  # examples that only the first answers right
    only_second: int
    p: float  # McNemar's exact test, two-sided


@dataclass(frozen=True)
class OtherTest:
    """Two runs on different tests: the second's share of correct answers less the first's, 95% interval."""

    low: float
    high: float


def same_test(first: str, second: str) -> SameTest:
    """Each string has a "1" for a right answer and a "0" for a wrong one, example by example.

    McNemar 1947, exact: were the runs equally good, each example that only one gets right would be a fair coin.
    Raises ValueError where the strings are not equally long.
    """
    pairs = list(zip(first, second, strict=True))
    only_first, only_second = pairs.count(("1", "0")), pairs.count(("0", "1"))
    flips = only_first + only_second
    return SameTest(only_first, only_second, float(binomtest(only_first, flips).pvalue) if flips else 1.0)


def other_test(first: float, first_count: int, second: float, second_count: int) -> OtherTest:
    """Two shares of so many examples each. Newcombe 1998, method 10: from the two Wilson intervals."""
    (low_1, high_1), (low_2, high_2) = (
        wilson(round(share * count), count) for share, count in ((first, first_count), (second, second_count))
    )
    gap = second - first
    return OtherTest(gap - math.hypot(second - low_2, high_1 - first), gap + math.hypot(high_2 - second, first - low_1))
