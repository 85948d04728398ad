"""Learn live in pictures and words: the numbers that went in come out, in the right place, escaped."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from demos.bert.pretraining.corruption import Corruption
from demos.lessons.pretraining.learn import text
from demos.lessons.pretraining.learn.figure import BINS, NOWHERE, THERE, gradient_figure, groups, moved_figure
from demos.lessons.pretraining.learn.text import far_first
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.copies import Point
from demos.training.pretraining.passage import Passage
from demos.training.pretraining.probes import Answer, ProbeResult, Question
from demos.training.pretraining.rows import Rows
from tests.one_line import on_one_line
from tests.plotly_figure import plotly

guesses_html, batch_html, cut_html, rows_html, top_rows_html, step, numbers = map(
    on_one_line,
    (
        text.guesses_html,
        text.batch_html,
        text.cut_html,
        text.rows_html,
        text.top_rows_html,
        text.TEXT.step,
        text.TEXT.numbers,
    ),
)
MOVED = np.array([0.0, 2e-3, 1e-6, 1e-3, 1e-5], dtype=np.float32)
ROWS = Rows(MOVED, np.array([0, 3, 0, 0, 0]), np.array([0, 0, 0, 1, 0]), MOVED, MOVED, MOVED, MOVED)
TOKENS = ("<b>", "hive", "lid", "lamp", "brood", "[MASK]", "tea")


def tokens_of(ids: Any) -> Any:
    return TOKENS[ids] if isinstance(ids, int) else [TOKENS[index] for index in ids]


FOUND: Any = SimpleNamespace(
    tokenizer=SimpleNamespace(convert_ids_to_tokens=tokens_of, mask_token="[MASK]"), relation=object()
)


def test_bars_are_the_norms_and_the_rows_fall_into_their_groups():
    figure = plotly(gradient_figure({"embeddings": 3.25, "layer 1": 1.5, "word head": 0.125}))
    assert list(figure.data[0].y) == ["embeddings", "layer 1", "word head"]
    assert list(figure.data[0].x) == [3.25, 1.5, 0.125]
    found = groups(ROWS)
    assert np.flatnonzero(found[THERE]).tolist() == [1, 3]
    assert np.flatnonzero(found[NOWHERE]).tolist() == [0, 2, 4]
    histogram = plotly(moved_figure(ROWS))
    counted = {bars.name: (sum(bars.customdata), sum(bars.y)) for bars in histogram.data}
    assert all(len(bars.x) == BINS for bars in histogram.data)
    assert counted[f"{THERE}: 2"] == (2, pytest.approx(1))
    assert counted[f"{NOWHERE}: 3"] == (2, pytest.approx(2 / 3))  # one did not move, so it has no place
    still = Rows(np.zeros(5), ROWS.in_input, ROWS.as_answer, MOVED, None, None, None)
    assert len(plotly(moved_figure(still)).data) == 0


def test_what_is_said_of_the_rows_is_counted():
    told = rows_html(ROWS, 1, 1, 2e-3)
    assert "In step 1: how far did each" in told
    assert "4 of 5 rows of the embedding matrix moved" in told
    assert "only 1 of these words occurred" in told
    assert "moved by 1.5e-3 (the median). This is 1,500 times as far" in " ".join(told.split())
    assert "farther than 2.0e-3" in told
    later = rows_html(ROWS, 1, 2, 2e-3)
    assert "farther than" not in later
    assert "running averages" in later
    many = rows_html(ROWS, 100, 100, 2e-3)
    assert "In these 100 steps" in many
    assert "3 belong to words that occurred in none of the batches" in " ".join(many.split())
    assert far_first(MOVED, 3).tolist() == [1, 3, 4]
    tokenizer = SimpleNamespace(convert_ids_to_tokens=lambda ids: ["<b>", "hive"])
    table = top_rows_html(tokenizer, ROWS, 2)
    assert "<b>" not in table
    assert "2.00e-3" in table
    assert table.count("<td>") == 2 * 7


def test_guesses_before_and_now_and_what_changed():
    question = Question((), 0, 4, "Never <i>shake ", " ${x}.", True)
    before = ProbeResult((Answer((("<script>", 0.5), ("lid", 0.25)), 0.0001, 4_661),), 3.0, 2.0)
    after = ProbeResult((Answer((("brood", 0.75),), 0.75, 1),), 2.5, 2.75)
    event: Any = SimpleNamespace(after=after, before_untrained=None, after_untrained=None)
    held_out = Passage(("One.",), ("Two.",))
    told = guesses_html(FOUND, held_out, [question], before, event)
    assert "<script>" not in told
    assert "<i>" not in told
    assert "<b>brood</b> <small>0.75</small>" in told
    assert "1e-4 → <b>0.75</b>" in told
    assert "rank 4,661 → 1" in told
    assert '3.00 → <b class="nearer">2.50</b>' in told
    assert '2.00 → <b class="farther">2.75</b> <small>(training on one text' in told
    assert "random weights" not in told
    assert "held out</small>" in told
    event.before_untrained, event.after_untrained = after, ProbeResult((), 1.5, 1.0)
    assert 'from random weights: 2.50 → <b class="nearer">1.50' in guesses_html(
        FOUND, held_out, [question], before, event
    )
    silent = ProbeResult(before.answers, math.nan, 2.0)
    opening = guesses_html(FOUND, Passage(("One.",), ()), [question], silent)
    assert "held-out words" not in opening
    assert "now</th>" not in opening
    assert "trained on" in opening


def test_a_step_its_batch_and_all_steps_in_numbers():
    last: Any = SimpleNamespace(masked=3.5, following=2.25, right=0.44, norm=39.0)
    told = step(3, last, 1.0)
    assert all(part in told for part in ("Step 3", "3.50", "+ 2.25", "= 5.75", "44% correct", "39.00", "clipped to 1"))
    last.following, last.norm = math.nan, 0.5
    assert "next sentence" not in step(1, last, 1.0)
    assert "cut to" not in step(1, last, 1.0)
    kinds = np.array([0, 1, 2], dtype=np.int8)
    instance = Instance(Corruption(np.array([0, 5, 6]), np.array([-100, 1, 2]), kinds), (0, 0, 0), 1)
    event: Any = SimpleNamespace(last=SimpleNamespace(guesses=(1, 3) * 4, each=(0.25, 4.5) * 4))
    batch = batch_html(FOUND, [instance] * 9, 3, event)
    assert "<b>" not in batch
    assert "■ [MASK] <small>hive, ✓ 0.25" in batch
    assert "◆ tea <small>lid, lamp 4.50" in batch
    assert "B is not next" in batch
    assert "5 more sequences" in batch
    assert "<small>hive</small>" in batch_html(FOUND, [instance], 1)  # no guess before the step is taken
    table = numbers([Point(1, 3.5, math.nan, 39.0, 0.4, 10.3)])
    assert table.count("–") == 1
    assert "10.300" in table


def test_what_the_text_is_cut_into_is_told():
    assert "the last 3 are held out" in cut_html(FOUND, Passage(("a",) * 15, ("b",) * 3))
    assert "the last one is held out" in cut_html(FOUND, Passage(("a",) * 2, ("b",)))
    alone = cut_html(FOUND, Passage(("a",), ()))
    assert "1 sentence for" in alone
    assert "not a test" in alone
    assert "masked words only, since next sentences need at least two" in alone
    headless: Any = SimpleNamespace(relation=None)
    assert "no next-sentence head" in cut_html(headless, Passage(("a",) * 15, ("b",) * 3))
