"""Cross-entropy as every task takes it: positions without a label skipped, classes weighted, targets smoothed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from demos.training.tasks.task import NO_LABEL


def loss_of(
    logits: torch.Tensor, targets: torch.Tensor, weights: Sequence[float] = (), smoothing: float = 0.0
) -> torch.Tensor:
    """The mean cross-entropy of logits [..., C] against targets [...], those that are NO_LABEL left out.

    `weights`, one a class, make it a weighted mean. `smoothing` e gives the right class 1 - e + e / C and every other
    e / C (Szegedy et al. 2016, section 7).
    """
    return F.cross_entropy(
        logits.float().flatten(0, -2),
        targets.flatten(),
        weight=torch.tensor(weights, device=logits.device) if weights else None,
        ignore_index=NO_LABEL,
        label_smoothing=smoothing,
    )


def units_of(targets: torch.Tensor, weights: Sequence[float] = ()) -> float:
    """What `loss_of` divides by, so that batches' means add up to the mean over all: labels, or their weights."""
    labels = targets[targets != NO_LABEL]
    return float(torch.tensor(weights, device=labels.device)[labels].sum()) if weights else float(len(labels))


def class_weights(counts: Sequence[int]) -> tuple[float, ...]:
    """N / (C n) for a class that occurs n times among N: each class weighs alike in all (King and Zeng 2001).

    What scikit-learn calls "balanced".
    """
    return tuple(sum(counts) / (len(counts) * max(1, count)) for count in counts)
