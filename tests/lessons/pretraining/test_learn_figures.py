"""Learn live in pictures and words: the numbers that went in come out, in the right place, escaped."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from demos.lessons.pretraining.learn.figure import BINS, NOWHERE, THERE, gradient_figure, groups, moved_figure
from demos.lessons.pretraining.learn.text_tables import (
    AskedRow,
    Change,
    ReadSequence,
    ReadToken,
    asked_html,
    batch_html,
    far_first,
    numbers_html,
    rows_html,
    sentences_html,
    step_html,
    top_rows_html,
)

MOVED = np.array([0.0, 2e-3, 1e-6, 1e-3, 1e-5], dtype=np.float32)
IN_INPUT, ASKED = np.array([0, 3, 0, 0, 0]), np.array([0, 0, 0, 1, 0])


@dataclass(frozen=True)
class Said:
    top: tuple[tuple[str, float], ...]
    probability: float
    rank: int


def test_bars_are_the_norms_and_the_rows_fall_into_their_groups():
    figure = gradient_figure({"embeddings": 3.25, "layer 0": 1.5, "word head": 0.125})
    assert list(figure.data[0].y) == ["embeddings", "layer 0", "word head"]
    assert list(figure.data[0].x) == [3.25, 1.5, 0.125]
    found = groups(IN_INPUT, ASKED)
    assert np.flatnonzero(found[THERE]).tolist() == [1, 3]
    assert np.flatnonzero(found[NOWHERE]).tolist() == [0, 2, 4]
    histogram = moved_figure(MOVED, IN_INPUT, ASKED)
    counted = {bars.name: (sum(bars.customdata), sum(bars.y)) for bars in histogram.data}
    assert all(len(bars.x) == BINS for bars in histogram.data)
    assert counted[f"{THERE}: 2"] == (2, pytest.approx(1))
    assert counted[f"{NOWHERE}: 3"] == (2, pytest.approx(2 / 3))  # one did not move, so it has no place
    assert len(moved_figure(np.zeros(5), IN_INPUT, ASKED).data) == 0


def test_what_is_said_of_the_rows_is_counted():
    told = rows_html(MOVED, IN_INPUT, ASKED, 1, True, 2e-3)
    assert "4 of 5 rows moved" in told
    assert "only 1 stood in the input" in told
    assert "moved 1.5e-3 (the median), 1,500 times as far" in told
    assert "farther than 2.0e-3" in told
    later = rows_html(MOVED, IN_INPUT, ASKED, 1, False, 2e-3)
    assert "farther than" not in later
    assert "running averages" in later
    assert "3 never occurred" in rows_html(MOVED, IN_INPUT, ASKED, 100, False, 2e-3)
    assert far_first(MOVED, 3).tolist() == [1, 3, 4]
    table = top_rows_html(["<b>", "hive"], far_first(MOVED, 2), MOVED, IN_INPUT, ASKED, MOVED, (MOVED, MOVED, MOVED))
    assert "<b>" not in table
    assert "2.00e-3" in table
    assert table.count("<td>") == 2 * 7


def test_guesses_before_and_now_and_what_changed():
    before = Said((("<script>", 0.5), ("lid", 0.25)), 0.0001, 4_661)
    after = Said((("brood", 0.75),), 0.75, 1)
    row = AskedRow("Never <i>shake ", " ${x}.", "brood", True, True, before, after)
    told = asked_html(
        [row], [Change("held out", 3.0, 2.5), Change("general", 2.0, 2.75), Change("none", math.nan, 1)], "[MASK]"
    )
    assert "<script>" not in told
    assert "<i>" not in told
    assert "<b>brood</b> <small>0.75</small>" in told
    assert "1e-4 → <b>0.75</b>" in told
    assert "place 4,661 → 1" in told
    assert '3.00 → <b class="nearer">2.50</b>' in told
    assert '2.00 → <b class="farther">2.75</b>' in told
    assert "none" not in told
    opening = asked_html(
        [AskedRow("", "", "brood", True, False, before, None)], [Change("held out", 3.0, None)], "[MASK]"
    )
    assert "now</th>" not in opening
    assert "trained on" in opening


def test_a_step_its_batch_and_all_steps_in_numbers():
    told = step_html(3, 3.5, 2.25, 0.44, 39.0, 1.0)
    assert all(part in told for part in ("Step 3", "3.50", "+ 2.25", "= 5.75", "44% right", "39.00", "cut to 1"))
    assert "next sentence" not in step_html(1, 3.5, math.nan, 0.4, 0.5, 1.0)
    tokens = [
        ReadToken("<b>", 0),
        ReadToken("[MASK]", 1, "hive", "hive", 0.25),
        ReadToken("tea", 2, "lid", "lamp", 4.5),
    ]
    batch = batch_html([ReadSequence(tokens, 1)], 3, 5)
    assert "<b>" not in batch
    assert "■ [MASK] <small>hive, ✓ 0.25" in batch
    assert "◆ tea <small>lid, lamp 4.50" in batch
    assert "B is not next" in batch
    assert "5 more sequences" in batch
    table = numbers_html([(1, 3.5, math.nan, 39.0, 0.4, 10.3)], "Steps")
    assert table.count("–") == 1
    assert "10.300" in table


def test_what_the_text_is_cut_into_is_told():
    assert "the last 3 held out" in sentences_html(15, 3, True, "")
    assert "the last one held out" in sentences_html(2, 1, True, "")
    alone = sentences_html(1, 0, False, "why <not>.")
    assert "1 sentence to" in alone
    assert "no test" in alone
    assert "Masked words only: why &lt;not&gt;." in alone
