"""The block's picture: a running calculation with the ledger's numbers, GELU's curve, and a program that prints it."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from demos.bert.encoder.layer_trace import LayerLedger, layer_ledger
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.figures.numbers import scientific
from demos.lessons.encoder.block.figure import (
    block_numbers,
    block_picture,
    block_summary,
    gelu_figure,
    gelu_summary,
    steps,
)
from demos.lessons.encoder.program_layer import block_code, selfattention_code
from tests.made_up import distilbert
from tests.number_cells import numbers
from tests.plotly_figure import plotly
from tests.programs import printed

TEXT = "The banker counted her money on the bank of the river."
SIX = ("t1", "t2", "t3", "t4", "t5", "h")


@pytest.fixture(scope="module")
def run(bundled: LoadedModel) -> Run:
    return run_model(bundled, [encode(bundled.tokenizer, TEXT)])[0]


@pytest.fixture(scope="module")
def ledger(bundled: LoadedModel, run: Run) -> LayerLedger:
    return layer_ledger(bundled, run, 1)


def column(markup: str) -> list[tuple[str, float]]:
    """The running calculation: each row's sign and number."""
    found = re.findall(r'<td class="sign">(.?)</td>\s*<td class="(?:at|one)">([−\d.]+)</td>', markup)
    return [(sign, float(number.replace("−", "-"))) for sign, number in found]


@pytest.mark.parametrize("number", [0, 17, 383])
def test_the_column_is_a_calculation_that_comes_out(ledger: LayerLedger, run: Run, number: int) -> None:
    rows = column(block_picture(ledger, run.encoding, 8, number))
    assert len(rows) == len(steps(ledger, 8)) == 17
    value = rows[0][1]
    for sign, written in rows[1:]:
        if sign == "=":
            assert value == pytest.approx(written, abs=6e-4)
            value = written
        else:
            value = {"+": value + written, "−": value - written, "×": value * written, "÷": value / written}[sign]
    assert value == pytest.approx(float(run.hidden_states[2, 8, number]), abs=1e-4)


def test_the_strips_norms_and_differences_are_the_ledgers(ledger: LayerLedger, run: Run) -> None:
    markup = block_picture(ledger, run.encoding, 8, 3)
    for key in SIX:
        row = re.search(rf"<tr class=\"six\" data-step=\"{key}\">(.*?)</tr>", markup, re.DOTALL)
        assert row
        vector = getattr(ledger.block, key)[8]
        values = re.search(r'data-values="([^"]+)"', row.group(1))
        assert values
        np.testing.assert_allclose(numbers(values.group(1)), vector, rtol=1e-4)
        assert f"<td>{np.linalg.norm(vector):.3f}</td><td>{scientific(ledger.differences[key])}</td>" in row.group(1)
    inner, active = ledger.block.inner[8], ledger.block.active[8]
    assert f"1,536 components, {(inner > 0).sum()} of them above zero" in markup
    found = re.search(r'data-name="GELU\(T3 W1 \+ b1\)" data-values="([^"]+)"', markup)
    assert found
    np.testing.assert_allclose(numbers(found.group(1)), active, rtol=1e-4)


def test_the_told_and_the_tables(ledger: LayerLedger, run: Run) -> None:
    said = " ".join(block_summary(ledger, run.encoding, 8).split())
    assert f"norm {np.linalg.norm(ledger.block.t1[8]):.2f} to the state of <q>bank</q>" in said
    assert f'data-difference="{ledger.largest:.3e}"' in said
    assert "the results match" in said
    table = block_numbers(ledger, run.encoding, 8)
    for key, ours in ledger.steps.items():
        assert scientific(float(np.abs(ours - ledger.own[key]).max())) in table
    assert "12 × 13 × 32" not in table  # 14 tokens
    assert f"12 × {len(run.encoding)} × 32" in table


def test_units_lie_on_gelus_curve(ledger: LayerLedger) -> None:
    figure = plotly(gelu_figure(ledger, 8))
    relu, curve, units = figure.data
    x, y = np.array(curve.x), np.array(curve.y)
    np.testing.assert_allclose(y, torch.nn.functional.gelu(torch.from_numpy(x)).numpy(), atol=1e-6)
    np.testing.assert_allclose(relu.y, np.maximum(x, 0))
    theirs = torch.nn.functional.gelu(torch.tensor(np.array(units.x))).numpy()
    np.testing.assert_allclose(units.y, theirs, atol=1e-6)
    inner = ledger.block.inner[8]
    counts = np.array(units.customdata)
    assert counts.sum() == 1_536
    assert float(counts @ np.array(units.x)) == pytest.approx(float(inner.sum()), abs=1e-2)
    near = np.abs(inner[:, None] - np.array(units.x)).min(axis=1)
    assert near.max() <= 0.1  # no unit lies far from a point
    areas = (np.array(units.marker.size) - 5) ** 2
    np.testing.assert_allclose(areas / areas[0], counts / counts[0])
    left, right = figure.layout.xaxis.range
    outside = int(((inner < left) | (inner > right)).sum())
    assert ("Units outside the plot" in gelu_summary(ledger, 8)) == (outside > 0)
    assert f"Unit {int(ledger.block.active[8].argmax()):,} has the largest output" in gelu_summary(ledger, 8)


def test_what_was_typed_stays_text(bundled: LoadedModel) -> None:
    run = run_model(bundled, [encode(bundled.tokenizer, "<img src=x>")])[0]
    ledger = layer_ledger(bundled, run, 0)
    for markup in (block_picture(ledger, run.encoding, 1, 0), block_summary(ledger, run.encoding, 1)):
        assert "<<" not in markup
        assert "&lt;" in markup


def check_program(program: str, ledger: LayerLedger, token: int, number: int) -> None:
    *lines, last = printed(program)
    assert [line.split()[0] for line in lines] == ["x", "T1", "T2", "T3", "T4", "T5", "H"]
    for line, key in zip(lines, ("x", *SIX), strict=True):
        _, norm, one = line.split()
        vector = getattr(ledger.block, key)[token]
        assert float(norm) == pytest.approx(float(np.linalg.norm(vector)), abs=2e-3)
        assert float(one) == pytest.approx(float(vector[number]), abs=1e-4)
    assert float(last.split()[1]) <= 1e-5


def test_the_program_prints_the_pictures_numbers(bundled: LoadedModel, run: Run, ledger: LayerLedger) -> None:
    check_program(block_code(bundled.spec, run.encoding, 1, 8, 17), ledger, 8, 17)


def test_the_programs_run_on_distilbert(bundled: LoadedModel, tmp_path: Path) -> None:
    loaded = distilbert(bundled.tokenizer, tmp_path)
    spec = loaded.spec
    run = run_model(loaded, [encode(loaded.tokenizer, TEXT)])[0]
    ledger = layer_ledger(loaded, run, 1)
    check_program(block_code(spec, run.encoding, 1, 8, 3), ledger, 8, 3)
    lines = printed(selfattention_code(spec, ledger, run.encoding, 2, 8, loops=False))
    weights = [float(line.split()[-1]) for line in lines[:-1]]
    np.testing.assert_allclose(weights, ledger.attention.weights[2, 8], atol=1e-5)
