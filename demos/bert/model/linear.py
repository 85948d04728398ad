"""y = x W + b, by the quicker of PyTorch's two libraries for products on this CPU."""

import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

CPU = Path("/proc/cpuinfo")  # Linux


def quicken(model: Any) -> Any:
    """`model`, its nn.Linear replaced by ones that choose the quicker library; returned for ease.

    Parameters, their names, the files it is kept as and, up to float32 rounding, its numbers stay the same.
    """
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = QuickLinear
    return model


def apply_to_few(module: nn.Linear, states: torch.Tensor) -> torch.Tensor:
    """The output of `module` for a few states [..., in], without a gradient.

    The time is that of reading the matrix: for a vocabulary's, oneDNN needs little more, MKL up to three times as much.
    """
    apply = _by_onednn if _has_onednn() else linear
    return apply(states, module.weight, module.bias)


class QuickLinear(nn.Linear):
    """An nn.Linear whose three products, with a gradient too, are by oneDNN: in float32 on a CPU where that is quicker.

    Anywhere else (CUDA, autocast, another type) it is the nn.Linear that it was. Made of one by setting its class, so
    that parameters, names and everything else about the module stay.
    """

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]"""
        plain = self.weight.dtype == states.dtype == torch.float32 and states.device.type == "cpu" and states.numel()
        if not plain or torch.is_autocast_enabled("cpu") or not onednn_is_quicker():
            return linear(states, self.weight, self.bias)
        if torch.is_grad_enabled():
            return _Product.apply(states, self.weight, self.bias)
        return _by_onednn(states, self.weight, self.bias)


class _Product(torch.autograd.Function):
    """y = x W^T + b, for W as torch stores it; dx = dy W, dW = dy^T x, db = the sum of dy over the rows."""

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
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")


@cache
def onednn_is_quicker() -> bool:
    """Whether oneDNN multiplies quicker here than PyTorch's own choice, MKL: on AMD's CPUs with AVX-512.

    MKL picks its kernels by who made the CPU: on AMD's with AVX-512 it leaves half the speed unused; on AMD's with AVX2
    alone it is a tenth ahead of oneDNN, on Intel's a fifth. Both add up in float32, in another order, so the choice is
    by the CPU and not by a trial: two processes on one machine round alike. oneDNN keeps the code that it compiles for
    each shape, some 0.4 MB; the length of a sentence makes three or four. app.py says for how many shapes it does.
    """
    return _maker() == "AuthenticAMD" and torch.backends.cpu.get_cpu_capability() == "AVX512" and _has_onednn()


def _maker() -> str:
    """The CPU's maker, as it calls itself; "" on a Mac, and on Linux where the CPU is not an x86."""
    if sys.platform == "win32":
        return platform.processor().rpartition(", ")[2]  # "AMD64 Family 25 Model 1 Stepping 1, AuthenticAMD"
    try:
        lines = CPU.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id")), "")


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
            return all(torch.allclose(ours, theirs, atol=1e-6) for ours, theirs in pairs)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False
