"""Strips hold the vectors they were given, on one signed scale, and no markup of the learner's."""

import re

import numpy as np
import pytest

from demos.figures.palette import PALETTE
from demos.figures.strips import strips_figure, strips_limit, strips_table
from tests.plotly_figure import plotly

GENERATOR = np.random.default_rng(11)
HOSTILE = "<img src=x onerror=alert(1)> ${1}"


def test_each_vector_is_a_row_of_cells_on_one_scale() -> None:
    long, short = GENERATOR.normal(size=64).astype(np.float32), GENERATOR.normal(size=20).astype(np.float32)
    figure = plotly(strips_figure([("word", long), (HOSTILE, short)]))
    heat = figure.data[0]
    np.testing.assert_array_equal(heat.z[0], long)
    np.testing.assert_array_equal(heat.z[1, :20], short)
    assert np.isnan(heat.z[1, 20:]).all()
    assert heat.zmax == -heat.zmin == strips_limit([long, short])
    assert [stop[1] for stop in heat.colorscale] == PALETTE["signed"]
    assert figure.layout.yaxis.ticktext[0] == "word"
    assert "<img" not in figure.layout.yaxis.ticktext[1]
    assert figure.layout.yaxis.range == (1.5, -0.5)  # the first on top
    norms = [float(note.text.split()[-1]) for note in figure.layout.annotations]
    assert norms == pytest.approx([np.linalg.norm(long), np.linalg.norm(short)], rel=0.006)
    assert heat.texttemplate is None
    few = plotly(strips_figure([("few", np.array([0.5, -0.25, -0.001])), ("fewer", np.array([2.0]))])).data[0]
    assert few.texttemplate == "%{text}"
    assert [list(row) for row in few.text] == [["0.50", "−0.25", "0.00"], ["2.00", "", ""]]


def test_the_scale_is_not_an_outliers() -> None:
    values = np.linspace(-1, 1, 999)
    assert strips_limit([np.append(values, 50.0)]) == pytest.approx(1.0)
    assert strips_limit([np.array([0.0123])]) == pytest.approx(0.013)
    assert strips_limit([np.array([0.9, 0.9, 0.9])]) == pytest.approx(0.9)
    assert strips_limit([np.zeros(3)]) > 0
    assert strips_limit([]) > 0


def test_the_table_begins_as_the_vectors_do() -> None:
    vector = GENERATOR.normal(size=10)
    page = strips_table([(HOSTILE, vector), ("two", np.array([3.0, -4.0]))], "The <b>")
    assert "<img" not in page
    assert "<b>" not in page
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in page.split("<tr>")[2:]]
    told = [
        f"{value:.4f}".replace("-", "−") for value in (*vector[:8], vector.mean(), vector.std(), np.linalg.norm(vector))
    ]
    assert cells[0] == [*told[:8], "…", "10", *told[8:]]
    assert cells[1] == ["3.0000", "−4.0000", *[""] * 7, "2", "−0.5000", "3.5000", "5.0000"]
