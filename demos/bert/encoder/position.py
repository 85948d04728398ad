"""Position codes: learned rows, the first Transformer's sinusoids, or plain numbers; four wishes measured on each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.similarity import cosine_matrix
from demos.errors import UserError

MAX_LENGTH, MAX_WIDTH, MAX_BASE = 1_024, 2_048, 1_000_000


@dataclass(frozen=True)
class Wishes:
    """The requirements for a position encoding of m rows, in numbers."""

    nearest: float  # unique: the smallest distance between two rows; 0 would be two places with one code
    nearest_pair: tuple[int, int]
    nearest_each: np.ndarray  # <float64>[m]: each row's distance to the row most like it
    offset_mean: np.ndarray  # <float64>[m]: mean cosine of two rows that lie k apart, k = 0..m - 1
    offset_low: np.ndarray  # <float64>[m]: the smallest of them
    offset_high: np.ndarray  # <float64>[m]: the largest of them
    offset_spread: float  # consistent: the furthest that such a cosine lies from its offset's mean
    low: np.ndarray  # <float64>[m]: each row's smallest number
    high: np.ndarray  # <float64>[m]: each row's largest number

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounded: the smallest and the largest number of all."""
        return float(self.low.min()), float(self.high.max())


def divisors(width: int, base: float) -> np.ndarray:
    """<float64>[width / 2]: n^(2i/d), by which a position is divided to give the angle of each pair of components."""
    return np.asarray(base ** (np.arange(0, width, 2) / width), np.float64)


def sinusoidal(length: int, width: int, base: float = 10_000.0) -> np.ndarray:
    """float64 [length, width]: PE(pos, 2i) = sin(pos / n^(2i/d)), PE(pos, 2i + 1) = cos(pos / n^(2i/d)).

    Vaswani et al. 2017, section 3.5, where the base n is 10000. Raises UserError for sizes without sense or bound.
    """
    if not 1 <= length <= MAX_LENGTH or not 2 <= width <= MAX_WIDTH or width % 2:
        raise UserError(
            f"A table of sinusoids must have 1 to {MAX_LENGTH:,} positions and an even width from 2 to {MAX_WIDTH:,}."
        )
    if not 1 < base <= MAX_BASE:
        raise UserError(f"The base n of the sinusoids must be greater than 1 and at most {MAX_BASE:,}.")
    table = np.empty((length, width))
    angles = np.arange(length)[:, None] / divisors(width, base)  # [length, width / 2]
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table


def halves(table: np.ndarray) -> np.ndarray:
    """The same columns in another order: all sines on the left, all cosines on the right, as Tensor2Tensor has them."""
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


@dataclass(frozen=True)
class PlainNumber:
    """One number a position, in a text of m >= 2 positions, checked for the same properties."""

    nearest: float  # unique: the smallest distance between two positions
    offset_spread: float  # consistent: how far distances differ where positions lie equally far apart
    bounds: tuple[float, float]  # bounded: the smallest and the largest number
    again: float  # deterministic: how far the numbers move where the text is longer


def plain_index(length: int) -> np.ndarray:
    """float64 [length]: 0, 1, 2, ..."""
    return np.arange(length, dtype=np.float64)


def plain_fraction(length: int) -> np.ndarray:
    """float64 [length]: 0 ... 1, index / (length - 1)."""
    return np.arange(length) / max(1, length - 1)


def plain_number(code: Callable[[int], np.ndarray], length: int, longer: int) -> PlainNumber:
    """The wishes measured on `code(length)`; `longer` positions are those of another, longer text."""
    numbers = code(length)
    apart = np.abs(numbers[:, None] - numbers[None])  # [m, m]
    spreads = [np.ptp(np.diagonal(apart, offset)) for offset in range(length)]
    return PlainNumber(
        nearest=float(apart[~np.eye(length, dtype=bool)].min()),
        offset_spread=float(max(spreads)),
        bounds=(float(numbers.min()), float(numbers.max())),
        again=float(np.abs(code(longer)[:length] - numbers).max()),
    )


def wishes(table: np.ndarray) -> Wishes:
    """The four wishes measured on the rows of `table` [m, d], m >= 2."""
    rows = table.astype(np.float64)
    m = len(rows)
    products = rows @ rows.T  # [m, m]
    squares = np.diagonal(products)
    apart = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0))
    np.fill_diagonal(apart, np.inf)
    i, j = sorted(int(index) for index in np.unravel_index(int(apart.argmin()), apart.shape))
    cosines = cosine_matrix(rows)
    by_offset = [np.diagonal(cosines, offset) for offset in range(m)]
    mean = np.array([values.mean() for values in by_offset])
    low = np.array([values.min() for values in by_offset])
    high = np.array([values.max() for values in by_offset])
    return Wishes(
        nearest=float(np.linalg.norm(rows[i] - rows[j])),
        nearest_pair=(i, j),
        nearest_each=apart.min(axis=1),
        offset_mean=mean,
        offset_low=low,
        offset_high=high,
        offset_spread=float(np.maximum(high - mean, mean - low).max()),
        low=rows.min(axis=1),
        high=rows.max(axis=1),
    )
