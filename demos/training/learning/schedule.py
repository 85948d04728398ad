"""The learning-rate schedule: warm-up, then linear, cosine or constant."""

from __future__ import annotations

import math


def learning_rate(step: int, total_steps: int, peak: float, warmup: float = 0.1, schedule: str = "linear") -> float:
    """The rate of the update number `step` (0 is the first) of `total_steps`; `warmup` is a share of all steps.

    The values of transformers' `get_linear_schedule_with_warmup`, `get_cosine_schedule_with_warmup` and
    `get_constant_schedule_with_warmup`. Devlin et al. 2019, A.2: warm-up, then linear decay.
    """
    warmup_steps = math.ceil(total_steps * warmup)
    if step < warmup_steps:
        return peak * step / warmup_steps
    done = (step - warmup_steps) / max(1, total_steps - warmup_steps)  # 0..1 of what follows the warm-up
    if schedule == "linear":
        return peak * max(0.0, 1 - done)
    if schedule == "cosine":
        return peak * max(0.0, 0.5 * (1 + math.cos(math.pi * done)))
    return peak
