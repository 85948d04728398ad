"""Which validation examples are watched while a run learns: a few, always the same, of every class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

MAX_WATCHED = 8


def watched_of(targets: Sequence[Any], most: int = MAX_WATCHED) -> tuple[int, ...]:
    """Places of at most `most` examples: as many of each class as of any other, evenly spread within it.

    Targets that are no classes (no whole numbers) count as one class. With more classes than `most`, the first ones.
    """
    by_class: dict[int, list[int]] = defaultdict(list)
    for index, target in enumerate(targets):
        by_class[target if isinstance(target, int) else 0].append(index)
    quotas = dict.fromkeys(sorted(by_class), 0)
    for _ in range(min(most, len(targets))):
        open_classes = [label for label in quotas if quotas[label] < len(by_class[label])]
        quotas[min(open_classes, key=lambda label: quotas[label])] += 1
    return tuple(
        sorted(
            members[(2 * k + 1) * len(members) // (2 * quotas[label])]
            for label, members in by_class.items()
            for k in range(quotas[label])
        )
    )
