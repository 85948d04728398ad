"""A model's size drawn: every area and cell is the count's, and the program prints the same total."""

import re
from dataclasses import replace

import pytest

from demos.bert.encoder.size import KNOWN, Shape, count_parameters, total_parameters
from demos.figures.numbers import with_prefix
from demos.lessons.encoder.size.figure import beside, models_table, parts_table, size_code, size_summary, treemap
from tests.plotly_figure import plotly
from tests.programs import printed

BASE, LARGE = KNOWN[-2:]
ODD = Shape("<b>Odd & own</b>", 3, 96, 6, vocabulary=1_000, positions=64, segments=0, inner=100, pooler=False)


@pytest.mark.parametrize("shape", [BASE, ODD], ids=["base", "odd"])
def test_the_areas_add_up(shape: Shape) -> None:
    (trace,) = plotly(treemap(shape)).data
    children: dict[str, int] = {}
    for parent, value in zip(trace.parents, trace.values, strict=True):
        children[parent] = children.get(parent, 0) + value
    values = dict(zip(trace.ids, trace.values, strict=True))
    assert values["all"] == total_parameters(shape)
    assert all(values[parent] == total for parent, total in children.items() if parent)
    assert "<b>Odd" not in trace.labels[0]


def test_the_tables_hold_the_counts() -> None:
    cells = re.findall(r"<td>(?:<b>)?([\d,]+)(?:</b>)?</td></tr>", parts_table(count_parameters(BASE)))
    numbers = [int(cell.replace(",", "")) for cell in cells]
    assert numbers[-1] == sum(numbers[:-1]) == 109_482_240
    table = models_table(beside(ODD), 128)
    assert all(text in table for text in ("109,482,240", "335,141,888", "&lt;b&gt;Odd"))
    assert table.index("Odd") < table.index("BERT tiny")  # by size
    assert beside(BASE) == list(KNOWN)
    assert beside(replace(BASE, name="BERT base", vocabulary=28_996)) == list(KNOWN)


def test_the_sentences_explain_the_lectures_figures() -> None:
    assert "109,482,240 parameters" in size_summary(BASE, 128)
    assert "with the two pre-training heads there are 110,106,428." in size_summary(BASE, 128)
    assert "336,226,108" in size_summary(LARGE, 128)
    assert "pre-training heads" not in size_summary(ODD, 128)


@pytest.mark.parametrize("shape", [KNOWN[0], ODD], ids=["tiny", "odd"])
def test_the_program_prints_the_total(shape: Shape) -> None:
    assert int(printed(size_code(shape))[0]) == total_parameters(shape)


def test_numbers_in_short() -> None:
    written = {12: "12 B", 4_720_000: "4.72 MB", 437_928_960: "438 MB", 1.34e9: "1.34 GB", 999_700: "1 MB"}
    assert {number: with_prefix(number, "B") for number in written} == written
    assert not any(
        "e+" in with_prefix(n * 10**power, "B") for n in (0.9994, 0.9996, 9.996, 99.96) for power in range(2, 13)
    )
