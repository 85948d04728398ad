"""Input, position and stack drawn: each figure and sentence holds the numbers it was given."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from demos.bert.encoder.input import add_up, embedding_tables, select
from demos.bert.encoder.input_changed import Changes, compare
from demos.bert.encoder.position import plain_fraction, plain_index, plain_number, sinusoidal, wishes
from demos.bert.encoder.residual_stream import paths
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.figures.numbers import scientific
from demos.figures.palette import WORDS
from demos.figures.strips import strips_figure
from demos.lessons.encoder.input.figure import (
    changes_figure,
    changes_summary,
    norm_strips,
    selection_strips,
    sum_strips,
)
from demos.lessons.encoder.position.figure import similarity_figure, table_figure, wishes_figure
from demos.lessons.encoder.position.text import TEXT, numbers_table, plain_verdicts, verdicts
from demos.lessons.encoder.residual_stream.figure import (
    SHOWN,
    curves_figure,
    drawn_tokens,
    path_figure,
    path_summary,
    path_table,
)
from tests.plotly_figure import plotly

HOSTILE = "Rain <img src=x onerror=alert(1)> fell"


@pytest.fixture(scope="module")
def run(tiny: LoadedModel) -> Run:
    return run_model(tiny, [encode(tiny.tokenizer, HOSTILE)])[0]


def test_strips_add_up(tiny: LoadedModel, run: Run) -> None:
    tables = embedding_tables(tiny.model)
    ledger = add_up(tables, run.encoding)
    z = plotly(strips_figure(sum_strips(ledger, run.encoding, 1))).data[0].z
    np.testing.assert_allclose(z[0] + z[1] + z[2], z[3], atol=1e-6)
    steps = dict(norm_strips(ledger, 1))
    result = steps["(sum − mean) / std. deviation"] * steps["× gain"] + steps["+ offset"]
    np.testing.assert_allclose(result, run.hidden_states[0, 1], atol=1e-5)
    selection = select(tables, run.encoding.input_ids[1])
    picture = plotly(strips_figure(selection_strips(selection, ["a", "rain", "b"])))
    assert [name.split()[0] for name in picture.layout.yaxis.ticktext] == ["0", "1", "0", "="]
    np.testing.assert_array_equal(picture.data[0].z[1], picture.data[0].z[3])


def test_changes_are_a_row_each_and_the_mean_stands_last(tiny: LoadedModel, run: Run) -> None:
    states = run.hidden_states
    one, bag = compare("positions", states[0], states[2]), compare("bag", states[0], states[0])
    changes = Changes(tuple(range(len(run.encoding))), (one, bag))
    figure = plotly(changes_figure(changes, run.encoding, 3))
    np.testing.assert_allclose(figure.data[0].z[0], [*one.cosine, one.sentence], atol=1e-6)
    np.testing.assert_allclose(figure.data[0].z[1], 1)
    assert figure.data[0].zmin <= figure.data[0].z.min()
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (2.5, 3.5)
    assert len(set(figure.data[0].x)) == len(run.encoding) + 1
    told = changes_summary(changes, run.encoding, 3, replace(tiny.spec, segments=False))
    assert "<img" not in told
    assert "no segment embeddings to remove" in told
    assert f"{one.cosine[3]:.2f}" in told


def test_the_cells_of_a_short_sentence_hold_their_numbers(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, "a short one")])[0]
    states = run.hidden_states
    changes = compare("positions", states[0], states[2]), compare("bag", states[0], states[0])
    heat = plotly(changes_figure(Changes(tuple(range(len(run.encoding))), changes), run.encoding, 1)).data[0]
    cells = [
        [re.fullmatch(r'<span style="color:(#\w+)">(−?\d\.\d\d)</span>', cell) for cell in row] for row in heat.text
    ]
    written = [[float(cell[2].replace("−", "-")) for cell in row if cell] for row in cells]
    np.testing.assert_allclose(written, heat.z, atol=0.0051)
    assert {cell[1] for cell in cells[1] if cell} == {"#000000"}  # where nothing moved, the cell is pale


@pytest.mark.parametrize(("value", "written"), [(0, "0"), (4.77e-7, "4.8 × 10⁻⁷"), (1.0e-15, "1.0 × 10⁻¹⁵")])
def test_small_differences_are_written_out(value: float, written: str) -> None:
    assert scientific(value) == written


def test_position_tables_and_their_likeness() -> None:
    table = sinusoidal(4, 4, 100)
    figure = plotly(table_figure(table, names=("I", "am", "a", "<b>"), marked=2, limit=1.0))
    np.testing.assert_allclose(figure.data[0].z, table, atol=1e-6)
    written = [[cell.replace("−", "-") for cell in row] for row in figure.data[0].text]
    np.testing.assert_allclose(np.array(written, float), table, atol=5e-5)
    assert figure.layout.yaxis.ticktext == ("0 I", "1 am", "2 a", "3 &lt;b&gt;")
    assert figure.layout.shapes[0].y0 == 1.5
    assert not plotly(table_figure(sinusoidal(64, 128), marked=64)).layout.shapes
    alike = plotly(similarity_figure(np.eye(3)))
    assert (alike.data[0].zmin, alike.data[0].zmax) == (-1, 1)
    written = numbers_table(table, "Four", ("I", "am", "a", "robot"))
    cells = re.findall(r"<td>([-.\d]+)</td>", written.replace("−", "-"))
    np.testing.assert_array_equal(np.reshape(cells, (4, 4)).astype(float), table.round(4))
    assert "16 of 64 rows and 16 of" not in numbers_table(sinusoidal(64, 4), "All")
    assert "the first 8 of 64 rows and 32 of 128 columns" in numbers_table(sinusoidal(64, 128), "Some")


def test_wishes_are_told_with_their_numbers() -> None:
    table, other = sinusoidal(20, 8), np.random.default_rng(2).normal(0, 2, (20, 6))
    mine, theirs = wishes(table), wishes(other)
    verdict, worse = verdicts(mine, 0.0, None), verdicts(theirs, 0.0, 20)
    assert [met for met, _ in verdict] == ["met"] * 4
    assert [met for met, _ in worse] == ["met", "not met", "not met", "half met"]
    assert f"{theirs.nearest:.4f}" in worse[0][1]
    assert f"{theirs.offset_spread:.3f}" in worse[1][1]
    assert "none for position 20" in worse[3][1]
    assert verdicts(wishes(np.eye(2)[[0, 0]]), 1.0, 2)[0][0] == "not met"
    plain = [plain_verdicts(plain_number(code, 20, 25), 25) for code in (plain_index, plain_fraction)]
    assert [[met for met, _ in column] for column in plain] == [
        ["met", "met", "not met", "met"], ["met", "met", "met", "not met"],
    ]  # fmt: skip
    page = TEXT.wishes([("a", verdict), ("b", worse), ("c", plain[0]), ("d", plain[1])], 20)
    assert page.count("<tr>") == 5
    assert page.count("<td class=") == 16
    figure = plotly(wishes_figure(mine, theirs, (np.ones(30), np.ones(20))))
    curves = [trace for trace in figure.data if trace.fill is None]
    np.testing.assert_allclose(curves[1].y, mine.offset_mean, atol=1e-6)
    assert [len(trace.y) for trace in curves if trace.xaxis == "x4"] == [30, 20]


def test_the_path_and_its_curves(run: Run) -> None:
    found, token = paths(run), 2
    figure = plotly(path_figure(found, run.encoding, token, 1))
    assert "<img" not in figure.to_json().replace("\\u003c", "<")
    chosen = next(trace for trace in figure.data if trace.line.width == 4)
    np.testing.assert_allclose(np.column_stack([chosen.x, chosen.y]), found.points[:, token], atol=1e-4)
    assert chosen.line.color == WORDS[run.encoding.word_index[token] or 0]
    ways = [np.isnan(np.array(trace.x, float)).sum() for trace in figure.data[:-1]]  # each ends in a gap
    assert sum(ways) == len(run.encoding) - 1
    curves = plotly(curves_figure(found, run.encoding, token, 1))
    bars = next(trace for trace in curves.data if trace.type == "bar")
    np.testing.assert_allclose(bars.y, found.change[:, token], atol=1e-4)
    named = {trace.name: trace for trace in curves.data if trace.name}
    np.testing.assert_allclose(named["its embedding"].y, found.to_start[:, token], atol=1e-4)
    assert {shape.x0 for shape in curves.layout.shapes if shape.type == "rect"} == {1}
    cells = re.findall(r"<td>([^<]+)</td>", path_table(found, run.encoding, token))
    assert cells[0] == f"{found.norms[0, token]:.4f}"
    said = " ".join(path_summary(found, run.encoding, token, 1).split())
    assert f"{found.to_start[-1, token]:.2f}" in said
    states = run.hidden_states.astype(np.float64)
    each = [
        np.mean([np.linalg.norm(after - before) / np.linalg.norm(before) for before, after in zip(*both, strict=True)])
        for both in pairwise(states)
    ]
    assert f"the layers change a vector by {', '.join(f'{share:.0%}' for share in each)} of its length" in said


def test_a_long_input_shows_the_paths_around_the_chosen_token() -> None:
    assert drawn_tokens(5, 4) == [0, 1, 2, 3, 4]
    for token in (0, 70, 127):
        shown = drawn_tokens(128, token)
        assert len(shown) == SHOWN
        assert token in shown
