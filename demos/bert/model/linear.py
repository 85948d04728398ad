"""y = x W + b, by the quicker of PyTorch's two libraries for products on this CPU."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from demos.bert.model.cores import own_cpu_threads

TRIED = (256, 384, 768)  # tokens, in, out: some milliseconds of product
TIMES = 5
MARGIN = (
    0.9  # of PyTorch's own time at most: of two that are alike, runs of one seed must not take now one, now another
)
_clock = time.perf_counter if sys.platform == "win32" else time.thread_time  # Windows counts a thread's time in 16 ms
_trial = threading.Lock()


def apply_linear(module: Any, states: torch.Tensor) -> torch.Tensor:
    """The output of `module`, an nn.Linear in float32, for states [T, in] -> [T, out], without a gradient.

    PyTorch's own choice is MKL, which picks its kernels by who made the CPU: on AMD's with AVX-512 it leaves half the
    speed unused, on Intel's it is a fifth ahead of oneDNN. Both add up in float32, in another order.
    """
    if onednn_is_quicker():
        return _by_onednn(states, module.weight, module.bias)
    return linear(states, module.weight, module.bias)


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
        return _Product.apply(states, self.weight, self.bias)


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


def onednn_is_quicker() -> bool:
    """Whether oneDNN takes MARGIN of the time of PyTorch's own choice or less here; measured once, in 30 ms or so."""
    with _trial:  # callers that come during the measurement wait for its result
        return _measured()


@cache
def _measured() -> bool:
    if not _has_onednn():
        return False
    with ThreadPoolExecutor(1) as own:  # a thread's count of threads is its own
        seconds = own.submit(_seconds).result()
    return seconds["oneDNN"] <= MARGIN * seconds["own"]


@torch.inference_mode()
def _seconds() -> dict[str, float]:
    """The least time of the three products of a layer by each library, one thread, by turns."""
    own_cpu_threads(1)
    tokens, inner, outer = TRIED
    generator = torch.Generator().manual_seed(0)
    shapes = ((tokens, inner), (outer, inner), (outer,), (tokens, outer))
    states, weight, bias, gradient = (torch.rand(shape, generator=generator) for shape in shapes)
    libraries: dict[str, tuple[Callable[[], torch.Tensor], ...]] = {
        "own": (lambda: linear(states, weight, bias), lambda: gradient @ weight, lambda: gradient.t() @ states),
        "oneDNN": (
            lambda: _by_onednn(states, weight, bias),
            lambda: _by_onednn(gradient, weight.t(), None),
            lambda: _by_onednn(gradient.t(), states.t(), None),
        ),
    }
    best = {name: [float("inf")] * len(products) for name, products in libraries.items()}
    for _ in range(TIMES):
        for name, products in libraries.items():
            for which, product in enumerate(products):
                began = _clock()
                product()
                best[name][which] = min(best[name][which], _clock() - began)
    return {name: sum(times) for name, times in best.items()}


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
