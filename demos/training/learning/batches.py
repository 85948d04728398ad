"""Which sentences go together: batches of like length, so that little padding is computed."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from demos.bert.model.token_lists import padded_batches

POOL = 50  # batches that are sorted together: enough for like lengths, few enough to stay random
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
