"""The optimizer of a run, AdamW or SGD over groups of parameters, each with its decay; and its rate, step by step."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from demos.errors import UserError
from demos.training.settings import Settings

MOMENTUM = 0.9
NOTHING_TRAINS = "There is nothing to train: this task has no layers on top of the encoder."


def make_optimizer(encoder: Any, head: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Over all that has `requires_grad`, at rate 0 until `set_rate`. Raises UserError where nothing trains.

    AdamW: Loshchilov and Hutter 2019. SGD with momentum: its decay is part of the gradient, not decoupled.
    """
    groups = parameter_groups(encoder, head, settings.weight_decay)
    if not groups:
        raise UserError(NOTHING_TRAINS)
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=0.0, momentum=MOMENTUM, fused=True)
    return torch.optim.AdamW(groups, lr=0.0, fused=True)


def clipped_step(optimizer: torch.optim.Optimizer, parameters: Sequence[nn.Parameter], clip: float) -> torch.Tensor:
    """One step, the gradients scaled down to the norm `clip` where theirs is larger; returns their norm before.

    As `clip_grad_norm_` and `step`, but the optimizer divides each gradient as it reads it (PyTorch's fused ones offer
    that to mixed precision): one pass less over all gradients, 2% of the bundled model's step.
    """
    norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
    optimizer.grad_scale = ((norm + 1e-6) / clip).clamp(min=1.0)
    optimizer.step()
    return norm


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The learning rate of the next step."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def parameter_groups(encoder: Any, head: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The trainable parameters by weight decay: weight matrices have it; biases, LayerNorms and embeddings do not.

    Devlin et al.'s code decays neither biases nor LayerNorms. Embeddings: decay would move rows that never occur.
    """
    both = nn.ModuleList([encoder, head])
    plain = {id(p) for m in both.modules() if isinstance(m, nn.Embedding | nn.LayerNorm) for p in m.parameters()}
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in both.named_parameters():
        if parameter.requires_grad:
            decay = 0.0 if id(parameter) in plain or name.endswith("bias") else weight_decay
            groups.setdefault(decay, []).append(parameter)
    return [{"params": parameters, "weight_decay": decay} for decay, parameters in groups.items()]


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
