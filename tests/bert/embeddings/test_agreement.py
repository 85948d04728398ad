"""Agreement with ratings against scipy: ranks with ties, intervals, gaps, and the same numbers however it is cut."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, pearsonr, spearmanr

from demos.bert.embeddings import agreement as module
from demos.bert.embeddings.agreement import (
    Agreement,
    Pair,
    agreement_steps,
    correlation,
    gap_between,
    interval,
    misjudged,
    pearson,
    shared_steps,
    spearman,
    word_overlap,
)
from demos.bert.embeddings.pooling import Choice, choices_of
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded, VectorCache
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from tests.bert.embeddings.stepping import walked

SAID = "The old kettle sings while rain falls over seven quiet hills and nobody listens to it"
WORDS = SAID.split()
PAIRS = tuple(
    Pair(" ".join(WORDS[: 3 + row]), " ".join(WORDS[row:]), float(row % 6), "even" if row % 2 else "odd")
    for row in range(12)
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5)), min_size=5, max_size=40))
def test_correlations_are_scipy_s_with_ties(drawn: list[tuple[int, int]]) -> None:
    x, y = np.array(drawn, dtype=np.float64).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert math.isnan(spearman(x, y))
        assert math.isnan(pearson(x, y))
        return
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic, abs=1e-12)


def test_many_rows_at_once_and_what_does_not_vary() -> None:
    rng = np.random.default_rng(1)
    values, ratings = rng.normal(size=(3, 50)), rng.integers(0, 6, 50).astype(float)
    values[1] = 0.7 + 1e-9 * values[1]
    found = spearman(values, ratings)
    assert found[0] == pytest.approx(spearmanr(values[0], ratings).statistic)
    assert math.isnan(found[1])
    one = correlation(values[1], ratings)
    assert math.isnan(one.spearman)
    assert math.isnan(one.low)


def test_the_interval_is_about_the_bootstrap_s() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=180)
    y = np.round(2 * (x + 0.8 * rng.normal(size=180))) / 2
    rho = float(spearman(x, y))
    low, high = interval(rho, 180)
    theirs = bootstrap(
        (x, y), lambda a, b, axis: spearman(a, b), paired=True, vectorized=True, n_resamples=2000, method="percentile",
        rng=0,
    ).confidence_interval  # fmt: skip
    assert low < rho < high
    assert low == pytest.approx(theirs.low, abs=0.03)
    assert high == pytest.approx(theirs.high, abs=0.03)
    assert interval(1.0, 180) == (1.0, 1.0)


def test_a_gap_of_nothing_is_not_clear_and_one_of_much_is() -> None:
    rng = np.random.default_rng(5)
    ratings = rng.integers(0, 6, 150).astype(float)
    close, same, noise = ratings + rng.normal(size=150), ratings + rng.normal(size=150), rng.normal(size=150)
    assert gap_between(close, noise, ratings).clear
    assert not gap_between(close, same, ratings).clear
    assert gap_between(close, noise, ratings) == gap_between(close, noise, ratings)  # one seed
    assert math.isnan(gap_between(close, np.ones(150), ratings).difference)


def test_word_overlap_and_places() -> None:
    assert word_overlap(Pair("A cat sat.", "a CAT stood", 1)) == 0.5
    assert word_overlap(Pair("🎻", "!", 1)) == 0
    model, people = misjudged(np.array([0.9, 0.1, 0.5]), np.array([0.0, 5.0, 2.5]))
    assert model.tolist() == [1, 0, 0.5]
    assert people.tolist() == [0, 1, 0.5]


def test_every_choice_is_held_against_the_ratings(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, kept = VectorCache(), OnceCache[Encoded, Agreement](2)
    told, whole = walked(agreement_steps(cache, tiny, PAIRS))
    assert told[-1].done == told[-1].total == len({text for pair in PAIRS for text in (pair.first, pair.second)})
    assert whole.choices == tuple(choices_of(tiny))
    choice = Choice("max", "concat_last_four")
    (vectors,) = cache.get(tiny, [text for pair in PAIRS for text in (pair.first, pair.second)], [choice])
    at = whole.choices.index(choice)
    expected = cosine(vectors[::2], vectors[1::2])
    np.testing.assert_allclose(whole.cosines[at], expected, atol=1e-5)
    assert whole.correlations[at].spearman == pytest.approx(spearmanr(whole.cosines[at], whole.scores).statistic)
    assert whole.correlations[at].pearson == pytest.approx(pearsonr(whole.cosines[at], whole.scores).statistic)
    # [CLS] before the first layer is one and the same vector in every sentence
    assert math.isnan(whole.correlations[whole.choices.index(Choice("cls", 0))].spearman)
    last, *_ = whole.behind
    rows = [whole.choices.index(Choice(pooling, 2)) for pooling in ("mean", "cls")]
    assert last == (2, gap_between(*(whole.cosines[row] for row in rows), whole.scores))
    # cut in parts, in another order, the numbers are the same
    monkeypatch.setattr(module, "MAX_SHARED_FLOATS", 10)
    told, parts = walked(agreement_steps(VectorCache(), tiny, PAIRS))
    assert [one.done for one in told] == sorted(one.done for one in told)
    np.testing.assert_allclose(parts.cosines, whole.cosines, atol=1e-5)
    # and asked for again, nothing is computed
    first, again = (list(shared_steps(kept, cache, tiny, PAIRS)) for _ in range(2))
    assert first
    assert again == []


def test_what_has_no_order_is_a_sentence(tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="at least 5 pairs; there is 1"):
        walked(agreement_steps(VectorCache(), tiny, PAIRS[:1]))
    with pytest.raises(UserError, match="All 6 pairs have the rating 2"):
        walked(agreement_steps(VectorCache(), tiny, tuple(Pair(pair.first, pair.second, 2) for pair in PAIRS[:6])))
    with pytest.raises(UserError, match="have the same cosine"):
        walked(agreement_steps(VectorCache(), tiny, tuple(Pair("Same.", "Same.", row) for row in range(6))))
