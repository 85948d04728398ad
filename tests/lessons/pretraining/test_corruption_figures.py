"""A corrupted text drawn and told: what stands in the picture, both figures, and words that are hostile."""

import re

import numpy as np
import pytest

from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import PAPER, Corruption, Shares, never_chosen
from demos.bert.pretraining.corruption_counts import Draws, Fit
from demos.bert.pretraining.guesses import Guess
from demos.bert.pretraining.lens import Distribution
from demos.figures.palette import word_colour
from demos.lessons.pretraining.corruption import text
from demos.lessons.pretraining.corruption.figure import places_figure, shares_figure
from demos.lessons.pretraining.corruption.text import legend_html, numbers_html, picture_html, rest_html
from tests.one_line import on_one_line
from tests.plotly_figure import plotly

answers_html, shares_html = on_one_line(text.answers_html), on_one_line(text.shares_html)
Given = dict[int, Distribution]
HOSTILE = "<img src=x onerror=alert(1)>"
KINDS = np.array([0, 1, 0, 2, 3, 0, 0, 0], dtype=np.int8)


@pytest.fixture(scope="module")
def encoding(tiny: LoadedModel) -> Encoding:
    return encode(tiny.tokenizer, "A <b> & c")


@pytest.fixture(scope="module")
def corruption(encoding: Encoding) -> Corruption:
    ids = np.array(encoding.input_ids)
    return Corruption(ids, np.where(KINDS > 0, ids, -100), KINDS)


@pytest.fixture(scope="module")
def given() -> Given:
    def guess(token: str, chance: float, best: str, likeliest: float, rank: int) -> Distribution:
        return Distribution((Guess(best, 1, likeliest, 0.0),), likeliest, 1.0, Guess(token, 1, chance, 0.0), rank)

    return {1: guess("a", 0.5, "a", 0.5, 1), 3: guess("b", 0.1, HOSTILE, 0.6, 7), 4: guess(">", 0.9, ">", 0.9, 1)}


def test_each_token_stands_over_what_is_read(encoding: Encoding, corruption: Corruption, given: Given) -> None:
    read = list(encoding.tokens)
    read[1], read[3] = "[MASK]", HOSTILE
    told = picture_html(encoding, corruption, read, given)
    assert HOSTILE not in told
    kinds = re.findall(r'<li class="corruption-token (\w+)">', told)
    assert kinds == ["plain", "masked", "plain", "random", "kept", "plain", "plain", "plain"]
    assert re.findall(r'class="badge">(.*?)<', told) == ["", "■ masked", "", "◆ random", "● kept", "", "", ""]
    assert re.findall(r'class="corruption-loss">(.*?)<', told) == ["0.69", "2.30", "0.11"]
    above = re.findall(r'class="own"[^>]*>(.*?)</span>', told)
    assert above == ["[CLS]", "a", "&lt;", "b", "&gt;", "&amp;", "c", "[SEP]"]
    without = picture_html(encoding, corruption, read, {})
    assert "corruption-loss" not in without
    assert "loss" not in without


def test_a_long_text_is_cut_and_says_so(tiny: LoadedModel) -> None:
    long = encode(tiny.tokenizer, "sand " * 600)
    ids = np.array(long.input_ids)
    kinds = np.zeros(len(ids), dtype=np.int8)
    kinds[[5, 300, 400]] = 1
    told = picture_html(long, Corruption(ids, ids, kinds), long.tokens, {})
    assert told.count("corruption-token") == 128
    assert "384 more tokens, 2 of them chosen" in told
    assert "90 more were removed" in told


def test_counts_shares_and_the_rest(tiny: LoadedModel, encoding: Encoding, corruption: Corruption) -> None:
    special = never_chosen(tiny.tokenizer, encoding.input_ids)
    told = legend_html(corruption, special, PAPER)
    assert f"3 of {len(encoding)} tokens chosen" in told
    assert re.findall(r"<b>(. \d \w+)</b>", told) == ["■ 1 masked", "◆ 1 random", "● 1 kept"]
    assert "2 special tokens" in told
    rest = rest_html(Shares(masked=0.7, replaced=0.2))
    assert re.findall(r"flex-grow:([\d.]+)", rest) == ["0.7000", "0.2000", "0.1000"]
    assert "<b>10%</b>" in rest
    assert "<b>0%</b>" in rest_html(Shares(masked=0.9))


def test_answers_and_their_mean(corruption: Corruption, given: Given) -> None:
    told = answers_html(given, corruption, ["[CLS]", "[MASK]", "", HOSTILE, ">", "", "", ""], 30522)
    assert HOSTILE not in told
    assert re.findall(r"<b>([\d.]+)</b></td>", told) == ["0.69", "2.30", "0.11"]
    assert re.findall(r"width:([\d.]+)%", told) == ["30.1", "100.0", "4.6"]
    assert told.count("✓") == 2
    assert "<b>1.03</b>" in told
    assert "probabilities for 2.8 words" in told  # e to the 1.0337
    assert "would give 10.33" in told  # ln 30,522


def test_the_figures_hold_the_shares(encoding: Encoding) -> None:
    rng = np.random.default_rng(0)
    kinds = np.where(rng.random((1_000, 8)) < 0.3, rng.integers(1, 4, (1_000, 8)), 0).astype(np.int8)
    kinds[:, [0, 7]] = 0
    kinds[:, 1] = 1  # so that every draw chooses one
    draws = Draws(kinds, np.array([False, *[True] * 6, False]))
    figure = plotly(shares_figure(draws, PAPER))
    lines = [trace for trace in figure.data if trace.name]
    assert [line.name for line in lines] == ["■ masked", "◆ random", "● kept"]
    assert len({line.marker.symbol for line in lines}) == 3
    for column, line in enumerate(lines):
        assert (line.x[0], line.x[-1]) == (1, 1_000)
        assert line.y[-1] == pytest.approx(draws.running[-1, column])
    assert [shape.y0 for shape in figure.layout.shapes] == [0.8, 0.1]  # random and kept share theirs
    bars = plotly(places_figure(draws, encoding))
    np.testing.assert_allclose(bars.data[0].y, (kinds > 0).mean(axis=0)[1:7])
    assert bars.data[0].marker.color[0] == word_colour(encoding.word_index[1])
    assert "<b>" not in "".join(bars.data[0].x)
    assert bars.layout.shapes[0].y0 == pytest.approx((kinds > 0).mean(axis=0)[1:7].mean())
    table = numbers_html(draws, PAPER, encoding)
    assert f"<td>{(kinds == 1).sum():,}</td>" in table
    assert "<td>1000</td>" in table


def test_p_values_are_told_as_what_they_are() -> None:
    kinds = np.tile(np.array([0, 1, 1, 2, 0], dtype=np.int8), (100, 1))
    draws = Draws(kinds, np.array([False, True, True, True, False]))
    told = shares_html(draws, Fit(1.5, 2, 0.47), Fit(90.0, 2, 0.004), False)
    assert "300 tokens chosen in 100 draws: masked 66.7%, random 33.3%, kept 0.0%" in told
    assert "2 degrees of freedom, <b>p = 0.47</b>" in told
    assert "about 47 of 100" in told
    assert "fewer than 2 of 100 such experiments. By chance alone, one seed in 20" in told
    assert "3 of 5 tokens (60.0%" in told
    assert "nothing to test" in shares_html(draws, None, None, False)
    assert "words are chosen" in shares_html(draws, None, None, True)
