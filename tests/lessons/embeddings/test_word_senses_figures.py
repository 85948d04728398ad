"""A word's pictures hold the numbers they were given, and nobody's markup."""

import numpy as np
import pytest

from demos.bert.embeddings.word_occurrences import Contrast, Use, contrast
from demos.bert.embeddings.word_senses import SenseScores
from demos.lessons.embeddings.word_senses.figure import around, curves_figure, matrix_figure
from demos.lessons.embeddings.word_senses.figure_senses import scores_figure
from demos.lessons.embeddings.word_senses.text import (
    ranked,
    scores_summary,
    scores_table,
    uses_summary,
    uses_table,
    words_html,
)
from tests.one_line import plain
from tests.plotly_figure import plotly

USES = [
    Use("The bank lent it.", 4, 8, 0), Use("A bank pays.", 2, 6, 0), Use("<b>the</b> bank of mud", 11, 15, 1),
    Use("My bank?", 3, 7),
]  # fmt: skip
NAMES = ["money", "<i>river</i>"]


@pytest.fixture(scope="module")
def cosines() -> np.ndarray:
    raw = np.random.default_rng(0).uniform(0.5, 0.9, size=(3, 4, 4))
    return np.stack([np.where(np.eye(4), 1, (one + one.T) / 2) for one in raw])


def known(cosines: np.ndarray) -> Contrast:
    found = contrast(cosines, [use.sense for use in USES])
    assert found is not None
    return found


def test_two_curves_and_the_flat_line(cosines: np.ndarray) -> None:
    averages = known(cosines)
    figure = plotly(curves_figure(cosines, np.ones((4, 4)), 1, averages, USES, (0, 1)))
    drawn = {trace.name: trace for trace in figure.data}
    assert set(drawn["static table"].y) == {1.0}
    np.testing.assert_allclose(drawn["same sense"].y, averages.same, atol=1e-4)
    np.testing.assert_allclose(drawn["different senses"].y, averages.different, atol=1e-4)
    assert drawn["same sense"].line.color != drawn["different senses"].line.color
    said = " ".join(note.text for note in figure.layout.annotations)
    assert f"{averages.same[1]:.2f}" in said
    assert "static table: all equal" in said


def test_without_senses_every_pair_has_its_curve(cosines: np.ndarray) -> None:
    figure = plotly(curves_figure(cosines, np.ones((4, 4)), 2, None, USES, (1, 3)))
    thin, _, bold = figure.data
    assert len(thin.y) == 6 * 4  # three layers and a gap
    np.testing.assert_allclose(thin.y[:3], cosines[:, 0, 1], atol=1e-4)
    np.testing.assert_allclose(bold.y, cosines[:, 1, 3], atol=1e-4)
    assert bold.name == "uses 2 and ◆ 4"


def test_the_matrix_holds_every_pair_and_no_diagonal(cosines: np.ndarray) -> None:
    figure = plotly(matrix_figure(cosines[2], USES, NAMES, 2))
    cells = np.array(figure.data[0].z, dtype=float)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(cells[off], cosines[2][off], atol=1e-4)
    assert np.isnan(np.diag(cells)).all()
    assert (figure.data[0].zmin, figure.data[0].zmax) == (cosines[2][off].min(), cosines[2][off].max())
    assert [note.text for note in figure.layout.annotations] == [
        "<b>money</b>", "<b>&lt;i&gt;river&lt;/i&gt;</b>", "<b>yours</b>"
    ]  # fmt: skip
    assert "&lt;b&gt;the&lt;/b&gt; <b>bank</b>" in figure.data[0].customdata[2][2][0]
    assert len(plotly(matrix_figure(np.ones((2, 2)), USES[:2], [], 0)).layout.shapes) == 0  # equal uses, no senses told


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("A bank.", "A <b>bank</b>."),
        ("We sat down on the bank and watched.", "…on the <b>bank</b> and…"),
        ("bank " + "x" * 60, "<b>bank</b> " + "x" * 22 + "…"),
    ],
)
def test_a_word_is_shown_between_its_neighbours(sentence: str, shown: str) -> None:
    at = sentence.index("bank")
    assert around(Use(sentence, at, at + 4), 28) == shown


def test_what_is_told(cosines: np.ndarray) -> None:
    averages, static = known(cosines), np.ones((4, 4))
    told = plain(uses_summary("<bank>", cosines, static, 1, averages, USES, NAMES))
    assert f"<b>{averages.same[1]:.2f}</b> on average (1 pairs)" in told
    assert f"furthest apart at layer {(averages.same - averages.different).argmax()}," in told
    assert "“&lt;bank&gt;”, so the cosine of two uses is always <b>1.00</b>" in " ".join(told.split())
    to_river, to_money = cosines[1, 3, 2], cosines[1, 3, :2].mean()
    nearest = "&lt;i&gt;river&lt;/i&gt;" if to_river > to_money else "money"
    assert f"is nearest to <b>{nearest}</b> <b>{max(to_river, to_money):.2f}</b>" in told
    pairs = plain(uses_summary("bank", cosines, static, 0, None, USES, NAMES[:1]))
    assert f"<b>{cosines[0][~np.eye(4, dtype=bool)].max():.2f}</b>" in pairs
    table = plain(uses_table(cosines, static, averages, USES, NAMES))
    assert f"<td>1.0000</td><td>{cosines[0, 0, 1]:.4f}</td>" in table
    assert "<i>" not in table


def test_the_scores_are_drawn_with_chance_and_ranked() -> None:
    rand = np.array([[0.0, 0.1, 0.2], [0.0, 0.0, 1.0], [0.0, 0.3, -0.1]])
    scores = SenseScores(("low", "<top>", "worst"), (2, 2, 3), (10, 10, 15), rand, rand / 2 + 0.4, np.full(3, 0.4))
    figure = plotly(scores_figure(scores))
    chance, nearest, zero, clusters = figure.data
    np.testing.assert_allclose(clusters.y, rand.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(nearest.y, rand.mean(axis=0) / 2 + 0.4, atol=1e-4)
    assert list(chance.y) == pytest.approx([0.4] * 3)
    assert set(zero.y) == {0}
    assert ranked(scores) == [1, 0, 2]
    listed = words_html(scores)
    assert listed.index("&lt;top&gt;") < listed.index(">low<") < listed.index(">worst<")
    assert "layer 1" in scores_summary(scores)
    assert "35 sentences with 3 words in 7 senses" in scores_summary(scores)
    assert scores_table(scores).count('<th scope="row">') == 2 * 4
