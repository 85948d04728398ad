"""The general heatmap and table: any two sides, both scales, empty cells, rows' sums, nothing typed becomes markup."""

import re

import numpy as np
import pytest

from demos.bert.attention.matrix_labels import Labels
from demos.figures.matrix import matrix_figure, matrix_table
from tests.plotly_figure import plotly

ROWS = Labels(("[CLS]", "bank", "bank"), (True, False, False), 2)
COLUMNS = Labels(("<b>", "bank", "a", "[SEP]"), (False, False, False, True))


def test_an_oblong_matrix_keeps_its_sides() -> None:
    values = np.arange(12.0).reshape(3, 4) / 12
    figure = plotly(matrix_figure(values, ROWS, COLUMNS))
    (trace,) = figure.data
    np.testing.assert_allclose(np.array(trace.z), values, atol=5e-5)
    assert list(trace.y) == ["0 [CLS]", "1 bank", "2 bank"]
    assert list(trace.x) == ["0 &lt;b&gt;", "1 bank", "2 a", "3 [SEP]"]
    assert figure.layout.xaxis.ticktext == ("&lt;b&gt;", "bank", "a", "<i>[SEP]</i>")
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("to (key)", "from (query)")
    assert trace.hovertemplate.startswith("from <b>%{y}</b><br>to <b>%{x}</b>")
    assert (trace.zmin, trace.zmax) == (0, 0.92)
    assert [(line.x0, line.x1, line.y0, line.y1) for line in figure.layout.shapes] == [(-0.5, 3.5, 1.5, 1.5)]


@pytest.mark.parametrize("start", [0, 3])
def test_a_side_with_one_sentence_has_no_line(start: int) -> None:
    rows = Labels(ROWS.names, ROWS.special, start)
    assert not plotly(matrix_figure(np.eye(3), rows, rows)).layout.shapes
    assert ("B" if start == 0 else "A") in re.findall("<small>(.)</small>", matrix_table(np.eye(3), rows, rows, "x"))


def test_dashed_lines_run_between_the_cells_within_reach_and_the_others() -> None:
    n, reach = 6, 2
    square = Labels(tuple("abcdef"), (False,) * n)
    lines = plotly(matrix_figure(np.eye(n), square, square, reach=reach)).layout.shapes
    assert {line.line.dash for line in lines} == {"dash"}
    for line, sign in zip(lines, (1, -1), strict=True):
        for x, y in ((line.x0, line.y0), (line.x1, line.y1)):
            assert sign * (x - y) == reach + 0.5  # a cell's place is its centre's
            assert -0.5 <= min(x, y) <= max(x, y) <= n - 0.5
    assert not plotly(matrix_figure(np.eye(n), square, square, reach=n - 1)).layout.shapes


def test_a_signed_scale_is_even_about_zero() -> None:
    values = np.array([[-0.4, 0.1], [0.0, 0.333]])
    two = Labels(("a", "b"), (False, False))
    trace = plotly(matrix_figure(values, two, two, scale="signed")).data[0]
    assert (trace.zmin, trace.zmax) == (-0.4, 0.4)
    middle = {round(at, 2): colour for at, colour in trace.colorscale}[0.5]
    assert middle == "#f7f9fb"  # the palette's neutral
    fixed = plotly(matrix_figure(values, two, two, scale="signed", limit=1.5)).data[0]
    assert (fixed.zmin, fixed.zmax) == (-1.5, 1.5)


@pytest.mark.parametrize(
    ("peak", "end"), [(0.0, 0.01), (0.0312, 0.032), (0.000201, 0.00021), (0.5, 0.5), (3.141, 3.15)]
)
def test_the_scale_ends_just_above_the_largest_value(peak: float, end: float) -> None:
    two = Labels(("a", "b"), (False, False))
    trace = plotly(matrix_figure(np.array([[0.0, peak], [peak / 3, 0.0]]), two, two)).data[0]
    assert trace.zmax == pytest.approx(end)
    np.testing.assert_allclose(np.array(trace.z)[0, 1], peak, rtol=1e-3)


def test_empty_cells_stay_empty_and_count_as_nothing() -> None:
    values = np.array([[0.5, np.nan], [np.nan, np.nan]])
    two = Labels(("a", "b"), (False, False))
    figure = plotly(matrix_figure(values, two, two, row_sums=True))
    assert np.isnan(np.array(figure.data[0].z, dtype=float)).tolist() == [[False, True], [True, True]]
    assert figure.data[0].zmax == 0.5
    assert list(figure.data[1].x) == [0.5, 0]
    assert figure.layout.plot_bgcolor.startswith("rgba(128")  # not the colour of zero
    cells = re.findall("<td>(?:<b>)?([^<]*)", matrix_table(values, two, two, "x"))
    assert cells == ["", "0.500", "–", "0.500", "–", "–", "0.000"]
    assert np.isnan(values).sum() == 3
    whole = plotly(matrix_figure(np.full((2, 2), np.nan), two, two))
    assert whole.data[0].zmax > whole.data[0].zmin


def test_row_sums_stand_beside_the_rows() -> None:
    values = np.array([[0.1, 0.2, 0.3, 0.0], [1, 1, 1, 0.5], [0.25, 0.25, 0.25, 0.25]])
    heat, bars = plotly(matrix_figure(values, ROWS, COLUMNS, row_sums=True)).data
    assert list(bars.y) == list(heat.y)
    np.testing.assert_allclose(bars.x, [0.6, 3.5, 1])
    assert list(bars.text) == ["0.60", "3.50", "1.00"]
    assert plotly(matrix_figure(values, ROWS, COLUMNS, row_sums=True)).layout.xaxis2.range == (0, 3.5)
    many = Labels(tuple("x" * 50), (False,) * 50)
    assert plotly(matrix_figure(np.eye(50), many, many, row_sums=True)).data[1].text is None


def test_the_table_is_escaped_and_marks_the_sentences() -> None:
    table = matrix_table(np.array([[0.25, 0.5, 0, 0]] * 3), ROWS, COLUMNS, "A <i>caption</i>")
    assert "<i>caption" not in table
    assert "<b>a" not in table.replace("<b>0.750</b>", "")
    assert '<th scope="col">&lt;b&gt;</th>' in table
    assert re.findall("<small>(.)</small>", table) == ["A", "A", "B"]
    assert table.count("<b>0.750</b>") == 3
