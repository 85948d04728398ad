"""What the frozen layers make of each example, computed once and kept: float32 states, as many as memory is lent."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.utils.rnn import pad_sequence

from demos.training.tasks.task import Batch, Features

MAX_CACHE_BYTES = 2**30


class States:
    """States [n, d] of every sequence of an example, by the example. What no longer fits is computed each time."""

    def __init__(self, max_bytes: int | None = None) -> None:
        self.max_bytes = MAX_CACHE_BYTES if max_bytes is None else max_bytes
        self.nbytes = 0
        self._kept: dict[int, list[torch.Tensor]] = {}  # by id: a run holds its features as long as this

    def put(self, batch: Batch, states: torch.Tensor) -> int:
        """Keep the states [R, n, d] of a batch, its padding left out, as many as fit; returns of how many examples."""
        lengths = batch.attention_mask.sum(dim=1).tolist()
        row = 0
        for done, feature in enumerate(batch.features):
            rows = range(row, row + len(feature.sequences))
            size = 4 * sum(lengths[place] for place in rows) * states.shape[-1]
            if self.nbytes + size > self.max_bytes:
                return done
            self._kept[id(feature)] = [states[place, : lengths[place]].float().clone() for place in rows]
            self.nbytes += size
            row = rows.stop
        return len(batch.features)

    def get(self, features: Sequence[Features]) -> torch.Tensor | None:
        """The batch's states [R, n, d], zeros at its padding, or None where one of its examples is not kept."""
        if not all(id(feature) in self._kept for feature in features):
            return None
        return pad_sequence([row for feature in features for row in self._kept[id(feature)]], batch_first=True)
