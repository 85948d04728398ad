"""The learning rate of each step against transformers' own schedules."""

import math

import pytest
import torch
from transformers import (
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
    get_linear_schedule_with_warmup,
)

from demos.training.learning.optimizer import learning_rate


@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.33])
@pytest.mark.parametrize("steps", [1, 7, 96])
def test_learning_rate_is_transformers(schedule: str, warmup: float, steps: int) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=3e-4)
    ahead = math.ceil(warmup * steps)
    reference = {
        "linear": lambda: get_linear_schedule_with_warmup(optimizer, ahead, steps),
        "cosine": lambda: get_cosine_schedule_with_warmup(optimizer, ahead, steps),
        "constant": lambda: get_constant_schedule_with_warmup(optimizer, ahead),
    }[schedule]()
    for step in range(steps):
        assert learning_rate(step, steps, 3e-4, warmup, schedule) == pytest.approx(reference.get_last_lr()[0])
        optimizer.step()
        reference.step()
