"""Sinusoids against hand numbers and the formula read aloud; the wishes against brute force."""

import math

import numpy as np
import pytest

from demos.bert.encoder.input import embedding_tables
from demos.bert.encoder.position import halves, plain_fraction, plain_index, plain_number, sinusoidal, wishes
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

ROBOT = [
    [0, 1, 0, 1],
    [0.8415, 0.5403, 0.0998, 0.9950],
    [0.9093, -0.4161, 0.1987, 0.9801],
    [0.1411, -0.9900, 0.2955, 0.9553],
]


def test_i_am_a_robot() -> None:
    np.testing.assert_array_equal(sinusoidal(4, 4, 100).round(4), ROBOT)


@pytest.mark.parametrize(("length", "width", "base"), [(1, 2, 10_000), (7, 6, 37.5), (40, 64, 10_000)])
def test_the_formula(length: int, width: int, base: float) -> None:
    table = sinusoidal(length, width, base)
    for position in range(length):
        for i in range(width // 2):
            angle = position / base ** (2 * i / width)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)
    np.testing.assert_array_equal(sinusoidal(length + 5, width, base)[:length], table)  # whatever the length


@pytest.mark.parametrize(("length", "width"), [(2, 2), (4, 4), (128, 384)])
def test_sinusoids_meet_the_wishes(length: int, width: int) -> None:
    found = wishes(sinusoidal(length, width))
    assert found.nearest > 0
    assert found.offset_spread < 1e-12
    assert -1 <= found.bounds[0] <= found.bounds[1] <= 1
    omegas = 10_000.0 ** -(np.arange(0, width, 2) / width)
    expected = [np.cos(omegas * k).mean() for k in range(length)]  # of each pair, in which no position stands
    np.testing.assert_allclose(found.offset_mean, expected, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(sinusoidal(length, width), axis=1), math.sqrt(width / 2))


def test_wishes_are_measured_by_brute_force_too() -> None:
    table = np.random.default_rng(5).normal(size=(9, 4)).astype(np.float32)
    found = wishes(table)
    rows = [row.astype(float) for row in table]
    apart = {(i, j): math.dist(rows[i], rows[j]) for i in range(9) for j in range(9) if i < j}
    nearest = min(apart, key=lambda pair: apart[pair])
    assert (found.nearest_pair, found.nearest) == (nearest, pytest.approx(apart[nearest]))
    each = [min(d for pair, d in apart.items() if i in pair) for i in range(9)]
    np.testing.assert_allclose(found.nearest_each, each)
    cosine = [
        [rows[i] @ rows[i + k] / math.hypot(*rows[i]) / math.hypot(*rows[i + k]) for i in range(9 - k)]
        for k in range(9)
    ]
    np.testing.assert_allclose(found.offset_low, [min(values) for values in cosine])
    np.testing.assert_allclose(found.offset_high, [max(values) for values in cosine])
    spread = max(abs(value - np.mean(values)) for values in cosine for value in values)
    assert found.offset_spread == pytest.approx(spread)
    assert found.bounds == (table.min(), table.max())


def test_equal_rows_are_found_out() -> None:
    table = np.eye(4)
    table[3] = table[1]
    assert (wishes(table).nearest, wishes(table).nearest_pair) == (0, (1, 3))


def test_the_models_own_table(bundled: LoadedModel) -> None:
    learned = embedding_tables(bundled.model).positions
    assert learned.shape == (512, 384)
    found = wishes(learned[:128])
    assert found.nearest > 0.1
    assert found.offset_spread > 0.1  # nothing in training asks for more order than that
    assert found.bounds == (learned[:128].min(), learned[:128].max())


@pytest.mark.parametrize(("length", "width", "base"), [(0, 4, 100), (9999, 4, 100), (4, 3, 100), (4, 0, 9), (4, 4, 1)])
def test_sizes_without_sense_are_refused(length: int, width: int, base: float) -> None:
    with pytest.raises(UserError, match="must"):
        sinusoidal(length, width, base)


@pytest.mark.parametrize(("length", "longer"), [(2, 3), (5, 9), (64, 80)])
def test_plain_numbers_by_hand(length: int, longer: int) -> None:
    index, fraction = (plain_number(code, length, longer) for code in (plain_index, plain_fraction))
    assert (index.nearest, index.offset_spread, index.bounds, index.again) == (1, 0, (0, length - 1), 0)
    assert fraction.nearest == pytest.approx(1 / (length - 1))
    assert fraction.bounds == (0, 1)
    assert fraction.offset_spread == pytest.approx(0, abs=1e-12)
    assert fraction.again == pytest.approx(1 - (length - 1) / (longer - 1))  # the last position moves furthest


def test_sines_left_and_cosines_right_are_the_same_columns() -> None:
    table = sinusoidal(9, 8, 50)
    apart = halves(table)
    angles = np.arange(9)[:, None] / 50 ** (np.arange(0, 8, 2) / 8)
    np.testing.assert_allclose(apart, np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-12)
    assert wishes(apart).nearest == pytest.approx(wishes(table).nearest)
