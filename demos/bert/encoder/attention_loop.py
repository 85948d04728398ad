"""Attention twice: the lecture's loops over queries and keys, and the same as matrices; and how long each takes."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import softmax

LOOP_LENGTHS = (8, 16, 32, 64, 128)
MATRIX_LENGTHS = (8, 16, 32, 64, 128, 256, 512)
BUDGET = 1.6  # seconds for all of them
T = TypeVar("T")
Rows = Sequence[Sequence[float]]
Clock = Callable[[], float]  # -> seconds


@dataclass(frozen=True)
class Times:
    """Seconds that one head's attention took here, the quickest of a few tries, by the number of tokens."""

    width: int  # d_k
    loop: dict[int, float]
    matrix: dict[int, float]
    difference: float  # the largest between the two results, at the longest input that both did


def attention_loop(query: Rows, key: Rows, value: Rows) -> list[list[float]]:
    """z of one head by the lecture's pseudo-code, in plain Python: for each query, for each key, for each number.

    Rows are tokens, d_k numbers each (Vaswani et al. 2017, equation 1).
    """
    width = len(query[0])
    z = []
    for q in query:
        scores = []
        for k in key:
            product = 0.0
            for i in range(width):
                product += q[i] * k[i]
            scores.append(product / math.sqrt(width))
        largest = max(scores)  # taken off, so that no power overflows
        powers = [math.exp(score - largest) for score in scores]
        total = sum(powers)
        mixed = [0.0] * len(value[0])
        for power, v in zip(powers, value, strict=True):
            for i in range(len(mixed)):
                mixed[i] += power / total * v[i]
        z.append(mixed)
    return z


def attention_matrix(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """z of one head in one line: softmax(Q K^T / sqrt(d_k)) V; each [n, d_k]."""
    return softmax(query @ key.T / np.sqrt(query.shape[-1]), axis=-1) @ value


def measure(width: int, *, budget: float = BUDGET, clock: Clock = time.perf_counter) -> Times:
    """Time both on random vectors of `width` numbers, ever longer; the loops end where `budget` seconds are used up.

    Both are counted in seconds of `clock`.
    """
    generator = np.random.default_rng(0)
    began = clock()
    loop: dict[int, float] = {}
    matrix: dict[int, float] = {}
    difference = 0.0
    for n in MATRIX_LENGTHS:
        query, key, value = generator.standard_normal((3, n, width), dtype=np.float32)
        matrix[n], fast = _quickest(lambda: attention_matrix(query, key, value), 12, clock)  # noqa: B023
        likely = 4.5 * loop.get(n // 2, 0.0)  # twice the tokens take four times as long: begin only what fits
        fits = len(loop) < 2 or clock() - began + likely < budget  # two at least, to see them grow
        if n in LOOP_LENGTHS and fits:
            rows = [array.tolist() for array in (query, key, value)]
            loop[n], slow = _quickest(lambda: attention_loop(*rows), 3 if n <= 64 else 1, clock)  # noqa: B023
            difference = float(np.abs(np.array(slow) - fast).max())
    return Times(width, loop, matrix, difference)


def _quickest(work: Callable[[], T], tries: int, clock: Clock) -> tuple[float, T]:
    """(seconds of the quickest try, its result): what other jobs on the machine add is left out as far as can be."""
    best = math.inf
    for _ in range(tries):
        start = clock()
        result = work()
        best = min(best, clock() - start)
    return best, result
