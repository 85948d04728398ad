"""Many draws: shares that close in, and p values that are what they say, held against simulation and scipy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from demos.bert.pretraining.corruption import PAPER, Shares, corrupt
from demos.bert.pretraining.corruption_counts import Draws, draw_many, fit_kinds, fit_places

SPECIAL = [1, *[0] * 58, 1]


def draws(count: int, seed: int, **options: float) -> Draws:
    rng = np.random.default_rng(seed)
    tokenizer = SimpleNamespace(mask_token_id=103, vocab_size=999)
    return draw_many(lambda: corrupt(tokenizer, range(60), rng, Shares(**options), special=SPECIAL), SPECIAL, count)


def simulated(rng: np.random.Generator, count: int, tokens: int, chosen: int) -> Draws:
    """Draws of `chosen` of `tokens` places made by sorting random numbers, not by our code."""
    order = rng.random((count, tokens)).argsort(axis=1)
    kinds = rng.choice([1, 2, 3], p=[0.8, 0.1, 0.1], size=(count, tokens))
    return Draws(np.where(order < chosen, kinds, 0).astype(np.int8), np.ones(tokens, dtype=bool))


def test_shares_close_in_on_what_is_asked_for() -> None:
    found = draws(1_000, 0)
    np.testing.assert_allclose(found.running.sum(axis=1), 1)
    np.testing.assert_allclose(found.running[-1], [0.8, 0.1, 0.1], atol=0.02)
    assert found.counts[-1].sum() == found.chosen.sum() == 9 * 1_000
    by_hand = (found.kinds[:7] == 2).sum() / (found.kinds[:7] > 0).sum()
    assert found.running[6, 1] == pytest.approx(by_hand)
    assert found.chosen[[0, -1]].tolist() == [0, 0]
    kinds, places = fit_kinds(found, PAPER), fit_places(found)
    assert kinds is not None
    assert places is not None
    assert kinds.p == pytest.approx(chisquare(found.counts[-1], [7_200, 900, 900]).pvalue)
    assert (kinds.freedom, places.freedom) == (2, 57)
    assert min(kinds.p, places.p) > 0.01


def test_p_values_of_fair_draws_are_even_between_0_and_1() -> None:
    """So p = .05 does come up in 5 of 100 experiments; without the correction the places' p would crowd near 1."""
    rng = np.random.default_rng(5)
    found = [simulated(rng, 100, 20, 6) for _ in range(250)]
    places = [fit.p for one in found if (fit := fit_places(one))]
    kinds = [fit.p for one in found if (fit := fit_kinds(one, PAPER))]
    assert kstest(places, "uniform").pvalue > 0.01
    assert kstest(kinds, "uniform").pvalue > 0.01
    plain = [chisquare(one.chosen).pvalue for one in found]
    assert kstest(plain, "uniform").pvalue < 1e-6


def test_unfair_draws_are_found_out() -> None:
    found = draws(1_000, 1)
    kinds = fit_kinds(found, Shares(masked=0.85))
    assert kinds.p < 1e-6
    crowded = np.where(np.arange(60) < 30, found.kinds, np.int8(0))
    places = fit_places(Draws(crowded, found.free))
    assert places.p < 1e-6


def test_where_only_one_thing_can_happen_there_is_nothing_to_test() -> None:
    assert fit_kinds(draws(10, 0, masked=1.0, replaced=0.0), Shares(masked=1.0, replaced=0.0)) is None
    two = fit_kinds(draws(100, 0, masked=0.9), Shares(masked=0.9))
    assert two.freedom == 1
    assert fit_places(draws(10, 0, chosen=1.0)) is None
