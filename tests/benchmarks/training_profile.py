"""Where the processor's time of a float32 fine-tuning step goes: the matrix products, and what stands beside them.

Each operation that PyTorch runs, forward and backward, is timed by this thread's own processor time, which other
programs on the machine hardly change; what a step takes beyond them is Python's and autograd's, less the clock's own
share. The products' rate is told beside the best that products of these shapes reach on the same numbers over and
over: a step reads each weight twice and writes its gradient once for a few hundred tokens, by memory.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import nullcontext
from typing import Any

import torch
from _few import few
from torch.utils._python_dispatch import TorchDispatchMode
from training_speed import BASE, DATA, QUICK, product_rates, products

from demos.training.learning.batches import training_batches
from demos.training.learning.learner import Learner
from demos.training.tasks.registry import task_of

RATE = 1e-6  # so small that the steps stay alike
PRODUCTS = "matrix products"
PARTS = {  # by a part of the operation's name, the first that fits
    "_linear_pointwise": PRODUCTS,
    "addmm": PRODUCTS,
    "mm": PRODUCTS,
    "fused_adamw": "AdamW",
    "attention": "attention: scores, softmax, sums, their gradients",
    "gelu": "GELU and its gradient",
    "layer_norm": "LayerNorm and its gradient",
    "norm": "the gradient's norm",
    "embedding": "embeddings and their gradient",
    "sum": "sums: the biases' gradients, pooling",
    "copy": "copies",
    "clone": "copies",
    "add": "additions: residuals, gradients that meet",
}
REST, CALLS = "other operations", "Python, autograd, the calls themselves"


class Clock(TorchDispatchMode):
    """Seconds and multiply-adds of every operation, by part."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: Counter[str] = Counter()
        self.work = 0  # floating-point operations of the products

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name().split("::")[-1].split(".")[0]
        part = next((part for key, part in PARTS.items() if key in name), REST)
        began = time.thread_time()
        result = func(*args, **(kwargs or {}))
        self.seconds[part] += time.thread_time() - began
        if part == PRODUCTS:  # [m, k] times [k, n]: m k, and n is the result's last
            first = args[1] if "addmm" in name else args[0]
            self.work += 2 * first.numel() * result.shape[-1]
        return result


def main(short: bool = False) -> None:
    """Print the parts of a step, the most first; each batch is stepped on twice, once by the clock."""
    torch.set_num_threads(1)
    data, rounds = (few(DATA, QUICK.batch_size), 1) if short else (DATA, 3)
    task = task_of(data, QUICK)
    learner = Learner(task, BASE, QUICK)
    features = task.features(learner.model.tokenizer, data.train, learner.limit)
    learner.prepare(features)
    order = torch.Generator().manual_seed(0)
    clock, whole, best, count, padded = Clock(), 0.0, 0.0, 0, 0
    for done in range(-1, rounds):  # the first is not counted: it makes what is made once
        best = max(best, *product_rates(time.process_time, 0.01 if short else 0.2).values())
        for batch in training_batches([one.size for one in features], QUICK.batch_size, order):
            chosen = [features[at] for at in batch]
            began = time.process_time()
            learner.step(chosen, RATE)
            seconds = time.process_time() - began
            with clock if done >= 0 else nullcontext():
                learner.step(chosen, RATE)
            if done >= 0:
                whole, count, padded = whole + seconds, count + 1, padded + len(batch) * max(one.size for one in chosen)
    parts, real = clock.seconds, rounds * sum(one.size for one in features)
    parts[CALLS] = max(0.0, whole - sum(parts.values()))
    told = (
        f"{learner.trainable / 1e6:.1f} million numbers train, {padded / count:.0f} tokens, {1 - real / padded:.1%} of "
    )
    told += "them padding"
    print(f"a float32 step of {QUICK.batch_size} sentences: {1000 * whole / count:.0f} ms of one thread; {told}")
    for name, seconds in parts.most_common():
        line = f"  {name:50s} {1000 * seconds / count:6.1f} ms {seconds / whole:6.1%}"
        if name == PRODUCTS:
            line += (
                f"   at {clock.work / seconds / 1e9:.0f} GFLOP/s, {clock.work / seconds / best:.0%} of their best alone"
            )
        print(line)
    rate = rounds * products(data) / whole
    print(f"  real tokens' products by a whole step: {rate / 1e9:.0f} GFLOP/s, {rate / best:.0%} of {best / 1e9:.0f}")


if __name__ == "__main__":
    main()
