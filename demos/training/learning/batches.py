"""The composition of batches: examples of similar length, so that there is little padding; and the watched ones."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch

from demos.bert.model.batches.token_lists import padded_batches

POOL = 50  # batches that are sorted together: enough for like lengths, few enough to stay random
MAX_WATCHED = 8  # validation examples whose answers each look reports
SCORING_TOKENS = 2_048  # a padded batch's most tokens where no gradient is kept


def training_batches(lengths: Sequence[int], batch_size: int, generator: torch.Generator) -> list[list[int]]:
    """One epoch: every index once, shuffled, sorted by length within pools of POOL batches, the batches shuffled.

    The idea of transformers' `LengthGroupedSampler`, but the order comes from `generator` alone.
    """
    order = torch.randperm(len(lengths), generator=generator).tolist()
    size = POOL * batch_size
    batches: list[list[int]] = []
    for start in range(0, len(order), size):
        pool = sorted(order[start : start + size], key=lambda index: lengths[index])
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]


def scoring_batches(lengths: Sequence[int]) -> list[list[int]]:
    """Every index once, by length, as many as fit into SCORING_TOKENS padded tokens (at least one)."""
    return padded_batches(lengths, SCORING_TOKENS)


def balanced_places(targets: Sequence[Any]) -> tuple[int, ...]:
    """Places of at most MAX_WATCHED examples: as many of each class as of any other, evenly spread within it.

    Targets that are no classes (no whole numbers) count as one class. Of more classes than that, the first ones.
    """
    by_class: dict[int, list[int]] = defaultdict(list)
    for index, target in enumerate(targets):
        by_class[target if isinstance(target, int) else 0].append(index)
    quotas = dict.fromkeys(sorted(by_class), 0)
    for _ in range(min(MAX_WATCHED, len(targets))):
        open_classes = [label for label in quotas if quotas[label] < len(by_class[label])]
        quotas[min(open_classes, key=lambda label: quotas[label])] += 1
    return tuple(
        sorted(
            members[(2 * k + 1) * len(members) // (2 * quotas[label])]
            for label, members in by_class.items()
            for k in range(quotas[label])
        )
    )
