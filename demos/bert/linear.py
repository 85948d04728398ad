"""y = W x + b, by the quicker of PyTorch's two libraries for products on this CPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.nn.functional import linear


def apply_linear(module: Any, states: torch.Tensor) -> torch.Tensor:
    """What `module`, an nn.Linear in float32, makes of states [T, in] -> [T, out], without a gradient.

    oneDNN picks its kernels by what the CPU can do; MKL, PyTorch's own choice, by who made it, and on AMD's with
    AVX-512 leaves half the speed unused. Both add up in float32, in another order.
    """
    if _has_onednn():
        return _by_onednn(states, module.weight, module.bias)
    return linear(states, module.weight, module.bias)


def _by_onednn(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return result


@cache
def _has_onednn() -> bool:
    """Whether this build of PyTorch offers it, as its compiler uses it, with the same answer; tried out once."""
    generator = torch.Generator().manual_seed(0)
    states, weight, bias = (torch.rand(shape, generator=generator) for shape in ((3, 8), (5, 8), (5,)))
    try:
        with torch.inference_mode():
            return torch.allclose(_by_onednn(states, weight, bias), linear(states, weight, bias), atol=1e-6)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False
