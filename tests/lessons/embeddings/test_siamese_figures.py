"""The siamese part's drawings and words: what they show of made-up pairs, hostile ones too."""

import math

import numpy as np

from demos.bert.embeddings.agreement import Correlation, Gap, Pair
from demos.lessons.embeddings.siamese.figure import scatter_figure, spread_figure
from demos.lessons.embeddings.siamese.text import Towers, data_html, moved_html, numbers_html, scores_html, towers_html
from demos.training.data.rated_pairs import Form
from demos.training.events import PairResult
from demos.training.tasks.siamese.data import PairDataset
from tests.one_line import plain
from tests.plotly_figure import plotly

NASTY = "<script>alert(1)</script>${x}"
HELD = tuple(Pair(f"{NASTY} {k}", f"second {k}", float(k % 6)) for k in range(12))
DATA = PairDataset("mine.csv", HELD, HELD, HELD, top=5.0, held_out_rows=tuple(range(12)), form=Form("csv", (0, 1, 2)))
BEFORE, AFTER = np.linspace(0.7, 0.9, 12), np.linspace(-0.2, 0.9, 12)


def result(gap: Gap, rho: float = 0.5) -> PairResult:
    found = Correlation(rho, 0.4, 0.6, 0.5)
    return PairResult(
        tuple(BEFORE), tuple(AFTER), 0.2, found, found, gap,
        loss=0.1, steps=3, seconds=1.0, examples_per_second=9.0, folder="",
    )  # fmt: skip


def test_the_scatter_holds_every_pair_twice_beside_the_aim() -> None:
    figure = plotly(scatter_figure(HELD, 5.0, BEFORE, AFTER, 4))
    aim, before, after, ring = figure.data
    assert (list(aim.x), list(aim.y)) == ([0, 5], [0, 1])
    assert np.allclose(before.y, BEFORE, atol=1e-4)
    assert np.allclose(after.y, AFTER, atol=1e-4)
    assert np.abs(np.array(before.x) - [pair.score for pair in HELD]).max() <= 0.3
    assert ring.y[0] == after.y[4]
    assert "<script>" not in figure.to_json().replace("\\u003c", "<")
    assert len(plotly(scatter_figure(HELD, 5.0, BEFORE, None, -1)).data) == 2
    assert figure.layout.yaxis.range[0] < -0.2


def test_the_spread_counts_every_pair() -> None:
    assert [sum(bars.y) for bars in plotly(spread_figure(BEFORE, AFTER)).data] == [12, 12]


def test_the_words_never_sell_noise() -> None:
    noise = plain(scores_html(DATA, Correlation(0.5, 0.4, 0.6, 0.5), 0.2, result(Gap(0.1, -0.1, 0.3))))
    assert "within chance" in noise
    assert "<b>scale</b> changed" in noise
    assert "is now better, by more than chance" in scores_html(
        DATA, Correlation(0, 0, 0, 0), 0.2, result(Gap(0.2, 0.1, 0.3))
    )
    assert "is now worse" in scores_html(DATA, Correlation(0, 0, 0, 0), 0.2, result(Gap(-0.2, -0.3, -0.1)))
    none = Correlation(math.nan, math.nan, math.nan, math.nan)
    assert "all cosines are equal" in scores_html(DATA, none, 0.2, result(Gap(math.nan, math.nan, math.nan)))


def test_whose_pairs_they_are_and_what_may_have_been_seen_before() -> None:
    assert "this model was trained on pairs of photo captions" in plain(data_html(DATA, "trained", False, True))
    assert "captions" not in data_html(DATA, "trained", True, True) + data_html(DATA, "trained", False, False)
    assert "written for this app, and rated by fixed rules" in data_html(DATA, "trained", True, True)


def test_the_tables_and_towers_escape_and_add_up() -> None:
    told = moved_html(DATA, result(Gap(0.1, 0, 0.2))) + numbers_html(
        DATA, result(Gap(0.1, 0, 0.2)), [[0, None, 0.2, 0.5, 0.4, 0.6]], 3
    )
    seen = Towers((NASTY, "b"), (5, 4), 384, "cls", ([0.1] * 3, [0.2] * 3, 0.9), ([0.3] * 3, [-0.4] * 3, 0.5), 2.0, 5.0)
    towers = plain(towers_html(seen))
    assert "<script>" not in told + towers
    assert told.index("second 0<") < told.index("second 1<")  # the first moved most: from 0.70 to -0.20
    assert "(−0.40, −0.40, −0.40, …)" in towers
    assert "<b>0.250</b> → <b>0.010</b>" in towers  # (0.9 - 0.4)² and (0.5 - 0.4)²
    assert "no human rating" in towers_html(Towers(("a", "b"), (3, 3), 8, "mean", ([0.0], [0.0], 0.0), None, None, 5.0))
