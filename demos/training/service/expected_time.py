"""The expected time of a training: from the last similar one, or from this machine's speed."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from demos.bert.model.cores import own_cpu_threads
from demos.bert.model.linear import quicken
from demos.training.compute_cost import Cost
from demos.training.settings import Settings

# Share of the products a second that a training's reach. On the CPU, and what follows, fitted to the processor seconds
# of the four tasks' runs (everything, two layers, LoRA; both precisions): each within a quarter of it.
EFFICIENCY = {
    "cpu": {"float32": 0.62, "bfloat16": 0.55},
    "cuda": {"float32": 0.45, "bfloat16": 0.22},
}
# Beside products: batches, the calls themselves, events; the optimizer's pass over what trains; LoRA's small products,
# too narrow to be quick, and what goes with them.
SECONDS_A_STEP = {"cpu": 0.001, "cuda": 0.02}
SECONDS_A_PARAMETER = {"cpu": 2e-9, "cuda": 0.0}
SECONDS_AN_ADAPTER = {"cpu": 0.0017, "cuda": 0.0}
SURE = 0.5  # of the steps: after so many a run's own speed alone counts
SLOWER = 1.5  # times what was expected, and the run says so
SHAPE = (512, 384, 1_536)  # of the product that is timed: the bundled model's largest, on 512 tokens
TRIES = 5
TIMES = 8
_seen: dict[tuple[bool, str, int], list[float]] = {}


@dataclass(frozen=True)
class Expected:
    """Seconds from the first step to the kept model, loading left out."""

    seconds: float
    measured: bool  # from a training like it on this machine; else an estimate


def expected(cost: Cost, examples_per_second: float, half: bool, device: str, threads: int) -> Expected:
    """From the speed of the last training like it, where there was one (else 0), or the machine's products a second."""
    rate = EFFICIENCY[device]["bfloat16" if half else "float32"] * products_per_second(half, device, threads)
    if examples_per_second:
        steps = cost.examples / examples_per_second
        # The other products take the steps' measured rate; but a head's steps have hardly a product.
        return Expected(steps + cost.other_products / max(rate, cost.step_products / steps), True)
    beside = SECONDS_A_STEP[device] + SECONDS_A_PARAMETER[device] * cost.trainable_parameters
    steps = cost.step_products / rate + cost.steps * (beside + SECONDS_AN_ADAPTER[device] * cost.adapters)
    return Expected(steps + cost.other_products / rate, False)


def left_of(expected: float, measured: float, done: float) -> float:
    """Seconds left when the share `done` of the steps is: one estimate, from the one before the run to its own.

    The `expected` seconds of the whole give way to the steps so far (`measured`, seconds left by their mean);
    of these the first are the slowest, several times the others, so that they count little. `expected` is 0 where
    nothing was.
    """
    sure = min(1.0, done / SURE) ** 2 if expected else 1.0
    return sure * measured + (1 - sure) * expected * (1 - done)


def speed_settings(settings: Settings) -> tuple[object, ...]:
    """The settings that a step's speed depends on, besides model and data."""
    chosen = {"top": settings.top_layers, "lora": settings.lora_rank, "all": settings.frozen_embeddings}
    trained = settings.trains, chosen.get(settings.trains), settings.optimizer
    return *trained, settings.batch_size, settings.max_length, settings.threads


def products_per_second(half: bool, device: str, threads: int) -> float:
    """Floating-point operations a second in a matrix product on so many threads: the best that was seen.

    Timed at the first few askings, some 20 ms each: a machine that is busy at one moment shows a fraction of it.
    """
    seen = _seen.setdefault((half, device, threads), [])
    if len(seen) < TIMES:
        with ThreadPoolExecutor(1) as own:  # a thread's count of threads is its own
            seen.append(own.submit(_timed, torch.bfloat16 if half else torch.float32, device, threads).result())
    return max(seen)


def _timed(kind: torch.dtype, device: str, threads: int) -> float:
    own_cpu_threads(threads)
    rows, inner, columns = SHAPE
    layer = quicken(torch.nn.Linear(inner, columns, dtype=kind, device=device))
    states = torch.ones(rows, inner, dtype=kind, device=device)
    best = float("inf")
    with torch.inference_mode():
        for _ in range(TRIES):
            began = time.perf_counter()
            layer(states)[0, 0].item()  # waits for the device
            best = min(best, time.perf_counter() - began)
    return 2 * rows * inner * columns / best
