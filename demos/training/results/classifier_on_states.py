"""A kept classifier applied to hidden states instead of text: its output for an encoder that was changed."""

from collections.abc import Callable

import numpy as np
import torch

from demos.training.learning.model import Trained
from demos.training.tasks.task import Batch


def class_logits(trained: Trained, hidden: torch.Tensor) -> torch.Tensor:
    """The head's logits [C] for one input's last hidden states [n, d]; differentiable."""
    ones = torch.ones(1, len(hidden), dtype=torch.long)
    batch = Batch(ones, ones, None, ones[:, 0], ())
    return trained.task.logits(trained.model.head, hidden[None], batch)[0]


def class_probabilities(trained: Trained, hidden: np.ndarray) -> dict[str, float]:
    """Each class's probability for one input's last hidden states [n, d], in the order of the task's labels."""
    with torch.inference_mode():
        chances = class_logits(trained, torch.from_numpy(np.array(hidden))).softmax(dim=-1)
    return dict(zip(trained.task.labels, chances.tolist(), strict=True))


def class_score(trained: Trained, label: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """One class's logit as a function of the last hidden states [n, d], for its gradient."""
    return lambda hidden: class_logits(trained, hidden)[label]
