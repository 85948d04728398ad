"""y = W x + b, by the quicker of PyTorch's two libraries for products on this CPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear


def apply_linear(module: Any, states: torch.Tensor) -> torch.Tensor:
    """What `module`, an nn.Linear in float32, makes of states [T, in] -> [T, out], without a gradient.

    oneDNN picks its kernels by what the CPU can do; MKL, PyTorch's own choice, by who made it, and on AMD's with
    AVX-512 leaves half the speed unused. Both add up in float32, in another order.
    """
    if _has_onednn():
        return _by_onednn(states, module.weight, module.bias)
    return linear(states, module.weight, module.bias)


class QuickLinear(nn.Linear):
    """An nn.Linear whose three products, with a gradient too, are by oneDNN: in float32 on the CPU, where it is there.

    Anywhere else (CUDA, autocast, another type) it is the nn.Linear that it was. Made of one by setting its class, so
    that parameters, names and everything else about the module stay.
    """

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]"""
        plain = self.weight.dtype == states.dtype == torch.float32 and states.device.type == "cpu" and states.numel()
        if not plain or torch.is_autocast_enabled("cpu") or not _has_onednn():
            return linear(states, self.weight, self.bias)
        result: torch.Tensor = _Product.apply(states, self.weight, self.bias)
        return result


class _Product(torch.autograd.Function):
    """y = x W^T + b; dx = dy W, dW = dy^T x, db = the sum of dy over the rows."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(states, weight)
        return _by_onednn(states, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, weight = ctx.saved_tensors
        outer = outer.reshape(-1, outer.shape[-1])  # [T, out]
        of_states = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_states = _by_onednn(outer, weight.t(), None).view(states.shape)
        if ctx.needs_input_grad[1]:
            # Transposed views: oneDNN reads them as fast as copies, and the copy is saved.
            of_weight = _by_onednn(outer.t(), states.reshape(-1, states.shape[-1]).t(), None)
        if ctx.needs_input_grad[2]:
            of_bias = outer.sum(0)
        return of_states, of_weight, of_bias


def _by_onednn(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return result


@cache
def _has_onednn() -> bool:
    """Whether this build of PyTorch offers it, as its compiler uses it, with the same answer; tried out once."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((3, 8), (5, 8), (5,), (3, 5))
    states, weight, bias, outer = (torch.rand(shape, generator=generator) for shape in shapes)
    try:
        with torch.inference_mode():
            pairs = (
                (_by_onednn(states, weight, bias), linear(states, weight, bias)),
                (_by_onednn(outer, weight.t(), None), outer @ weight),
                (_by_onednn(outer.t(), states.t(), None), outer.t() @ states),
            )
            return all(torch.allclose(found, wanted, atol=1e-6) for found, wanted in pairs)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False
