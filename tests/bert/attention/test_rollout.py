"""Many heads as one: each way of adding them up against hand-made matrices and loops written here."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from demos.bert.attention.contributions import (
    CONTRIBUTION,
    Measured,
    added_norms,
    contributions,
    measured,
    staying_shares,
)
from demos.bert.attention.matrix_labels import Labels, word_starts
from demos.bert.attention.rollout import (
    Recipe,
    aggregate,
    joined_heads,
    quarter_of,
    renormalise,
    rollout,
    to_words,
    with_assumed_share,
    with_measured_shares,
)
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.errors import UserError

TEXT, PAIR = "The unflappable banker smiled.", "Nobody noticed it."


def attentions_of(seed: int, layers: int, heads: int, n: int) -> np.ndarray:
    scores = np.exp(np.random.default_rng(seed).normal(0, 2, (layers, heads, n, n)))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def run_of(attentions: np.ndarray) -> Run:
    """A run that has these attentions [L, H, n, n], of no model."""
    n = attentions.shape[-1]
    tokens = ("[CLS]", *(["rain"] * (n - 2)), "[SEP]")[:n]
    encoding = Encoding("", "", tokens, (0,) * n, (0,) * n, (None,) * n, (None,) * n, ((0, 0),) * n, (0,) * n)
    return Run("m", encoding, np.zeros((len(attentions) + 1, n, 4), np.float32), attentions)


def assumed_rollout(attentions: np.ndarray, up_to: int, residual: float = 0.5) -> np.ndarray:
    means = [layer.mean(axis=0, dtype=np.float64) for layer in attentions[: up_to + 1]]
    return rollout(with_assumed_share(mean, residual) for mean in means)


SHAPES = st.tuples(st.integers(0, 9999), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6))


def rollout_by_hand(attentions: np.ndarray, up_to: int, residual: float) -> np.ndarray:
    """How much of each input is in each token, followed number by number from the first layer up."""
    n = attentions.shape[-1]
    content = [[float(i == j) for j in range(n)] for i in range(n)]  # content[i][j]: j's share in token i
    for layer in range(up_to + 1):
        mixed = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for k in range(n):
                given_to_k = sum(float(head[i, k]) for head in attentions[layer]) / len(attentions[layer])
                share = (1 - residual) * given_to_k + (residual if i == k else 0.0)
                for j in range(n):
                    mixed[i][j] += share * content[k][j]
        content = mixed
    return np.array(content)


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.floats(0, 1), st.data())
def test_rollout_is_what_following_each_share_gives(
    shape: tuple[int, int, int, int], residual: float, data: st.DataObject
) -> None:
    attentions = attentions_of(*shape)
    up_to = data.draw(st.integers(0, len(attentions) - 1))
    rolled = assumed_rollout(attentions, up_to, residual)
    np.testing.assert_allclose(rolled, rollout_by_hand(attentions, up_to, residual), atol=1e-9)
    np.testing.assert_allclose(rolled.sum(axis=1), 1, atol=1e-5)
    assert (rolled >= 0).all()
    order = np.array(data.draw(st.permutations(range(shape[3]))))
    shuffled = attentions[:, :, order][:, :, :, order]
    np.testing.assert_allclose(assumed_rollout(shuffled, up_to, residual), rolled[np.ix_(order, order)], atol=1e-9)


def test_mean_and_max_over_heads_layers_and_all() -> None:
    attentions = attentions_of(1, 3, 4, 5)
    by = Measured(run_of(attentions))
    recipe = Recipe(layer=2, head=1)
    for what, several in {
        "heads": [attentions[2, h] for h in range(4)],
        "layers": [attentions[layer, 1] for layer in range(3)],
        "all": [attentions[layer, h] for layer in range(3) for h in range(4)],
    }.items():
        mean = sum(one.astype(np.float64) for one in several) / len(several)
        most = several[0]
        for one in several[1:]:
            most = np.maximum(most, one)
        np.testing.assert_allclose(joined_heads(by, replace(recipe, what=f"{what}-mean")), mean, atol=1e-12)
        largest = joined_heads(by, replace(recipe, what=f"{what}-max"))
        np.testing.assert_array_equal(largest, most)
        assert (largest.sum(axis=1) > 1.01).all()  # a maximum is not a distribution
    np.testing.assert_array_equal(joined_heads(by, replace(recipe, what="head")), attentions[2, 1])


def test_measured_shares_by_hand() -> None:
    weights = np.array([[0.5, 0.3, 0.2], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
    mixed = with_measured_shares(weights, np.array([0.6, 0.8, 1.0]))
    # what is left of row 0 is 0.4, divided as 3 to 2; the last row has nothing to divide
    np.testing.assert_allclose(mixed, [[0.6, 0.24, 0.16], [0, 0.8, 0.2], [0, 0, 1]])
    with pytest.raises(ValueError, match="needs a layer"):
        rollout([])


def test_by_contribution_heads_are_joined_by_their_shares(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT)])[0]
    norms = np.stack([contributions(tiny, run, layer).norms for layer in range(2)]).astype(np.float64)
    shares = norms / norms.sum(axis=-1, keepdims=True)  # [L, H, n, n]
    by = measured(tiny, run, CONTRIBUTION)
    recipe = Recipe(layer=1, head=3, measure="contribution")
    for what, expected in {
        "head": shares[1, 3],
        "heads-mean": shares[1].mean(axis=0),
        "heads-max": shares[1].max(axis=0),
        "layers-mean": shares[:, 3].mean(axis=0),
        "layers-max": shares[:, 3].max(axis=0),
        "all-mean": shares.mean(axis=(0, 1)),
        "all-max": shares.max(axis=(0, 1)),
    }.items():
        np.testing.assert_allclose(joined_heads(by, replace(recipe, what=what)), expected, rtol=1e-5, err_msg=what)
        made = aggregate(tiny, run, replace(recipe, what=what))
        np.testing.assert_allclose(made.values, expected, rtol=1e-5)
        if not what.endswith("max"):
            np.testing.assert_allclose(made.sums, 1, atol=1e-6)


@pytest.mark.parametrize("measure", ["weight", "contribution"])
@pytest.mark.parametrize("share", ["assumed", "measured"])
def test_each_rollout_is_the_product_of_its_layers(tiny: LoadedModel, measure: str, share: str) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT, PAIR)])[0]
    n = len(run.encoding)
    rolled = np.eye(n)
    for layer in range(2):
        mean = run.attentions[layer].astype(np.float64).mean(axis=0)
        given = mean if measure == "weight" else added_norms(tiny, run, layer)
        own = staying_shares(tiny, run, layer)
        factor = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if share == "assumed":
                    factor[i, j] = 0.3 * (i == j) + 0.7 * given[i, j] / given[i].sum()
                elif i == j:
                    factor[i, j] = own[i]
                else:
                    factor[i, j] = (1 - own[i]) * given[i, j] / (given[i].sum() - given[i, i])
        rolled = factor @ rolled
        made = aggregate(tiny, run, Recipe("rollout", layer, share=share, residual=0.3, measure=measure))  # type: ignore[arg-type]
        np.testing.assert_allclose(made.values, rolled, rtol=1e-5)
        np.testing.assert_allclose(made.sums, 1, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 9).flatmap(lambda n: st.tuples(arrays(float, (n, n), elements=st.floats(0, 1)), st.just(n))),
    st.data(),
)
def test_words_against_a_loop(made: tuple[np.ndarray, int], data: st.DataObject) -> None:
    weights, n = made
    weights = weights + 0.01
    weights /= weights.sum(axis=1, keepdims=True)
    starts = [0, *sorted(data.draw(st.sets(st.integers(1, n - 1)) if n > 1 else st.just(set())))]
    groups = [list(range(a, b)) for a, b in zip(starts, [*starts[1:], n], strict=True)]
    expected = [
        [sum(weights[i, j] for i in source for j in target) / len(source) for target in groups] for source in groups
    ]
    words = to_words(weights, starts)
    np.testing.assert_allclose(words, expected, atol=1e-12)
    np.testing.assert_allclose(words.sum(axis=1), 1, atol=1e-12)


def test_words_of_a_pair(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, TEXT, PAIR)
    assert "##app" in encoding.tokens  # or this test shows nothing
    words = Labels.of_words(encoding)
    assert words.names[:5] == ("[CLS]", "the", "unflappable", "banker", "smiled")
    assert words.names[words.sentence_b_start or 0 :] == ("nobody", "noticed", "it", ".", "[SEP]")
    assert [name for name, special in zip(words.names, words.special, strict=True) if special] == [
        "[CLS]",
        "[SEP]",
        "[SEP]",
    ]
    assert words.numbers == tuple(word_starts(encoding))
    assert words.words[2] == encoding.word_index[2] == encoding.word_index[3]
    banker = encoding.tokens.index("banker")
    assert words.names[words.place_of(banker - 1)] == "unflappable"  # its last piece
    assert words.names[words.place_of(banker)] == "banker"


def test_a_cut_keeps_numbers_sentences_and_hues() -> None:
    labels = Labels(
        ("[CLS]", "a", "[SEP]", "b", "[SEP]"), (True, False, True, False, True), 3, (), (None, 0, None, 1, None)
    )
    kept = labels.take([1, 3])
    assert kept == Labels(("a", "b"), (False, False), 1, (1, 3), (0, 1))
    assert labels.take([0, 1]).sentence_b_start == 2
    assert labels.take([3, 4]).sentence_b_start == 0
    assert [kept.place_of(number) for number in (0, 1, 2, 3, 9)] == [0, 0, 0, 1, 1]


def test_hidden_specials_leave_the_rest_as_it_was_or_scaled(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT)])[0]
    n = len(run.encoding)
    full = run.attentions[1, 2].astype(np.float64)
    hidden = aggregate(tiny, run, Recipe("head", 1, 2, specials="hide"))
    np.testing.assert_array_equal(hidden.values, full[1 : n - 1, 1 : n - 1])
    assert hidden.columns.names == run.encoding.tokens[1:-1]
    assert hidden.rows.numbers == tuple(range(1, n - 1))
    assert (hidden.sums < 0.99).all()
    scaled = aggregate(tiny, run, Recipe("head", 1, 2, specials="renormalise"))
    np.testing.assert_allclose(scaled.sums, 1)
    np.testing.assert_allclose(scaled.values * hidden.sums[:, None], hidden.values)


def test_a_row_of_zeros_is_not_renormalised() -> None:
    np.testing.assert_array_equal(renormalise(np.array([[0.0, 0.0], [1.0, 3.0]])), [[0, 0], [0.25, 0.75]])


@pytest.mark.parametrize("words", [False, True])
def test_four_quarters_are_the_whole(tiny: LoadedModel, words: bool) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT, PAIR)])[0]
    recipe = Recipe("rollout", 1, words=words)
    whole = aggregate(tiny, run, recipe)
    parts = {
        quarter: aggregate(tiny, run, replace(recipe, quarter=quarter)) for quarter in ("A-A", "A-B", "B-A", "B-B")
    }
    put_together = np.block([[parts["A-A"].values, parts["A-B"].values], [parts["B-A"].values, parts["B-B"].values]])
    np.testing.assert_array_equal(put_together, whole.values)
    assert parts["A-B"].rows.names + parts["A-B"].columns.names == whole.rows.names
    assert (parts["A-B"].sums < 1).all()
    assert parts["B-A"].rows.names[-1] == "[SEP]"


def test_without_a_second_sentence_a_quarter_is_the_whole(tiny: LoadedModel) -> None:
    labels = Labels.of_tokens(encode(tiny.tokenizer, "alone"))
    assert quarter_of(labels, "A-B") == ([0, 1, 2], [0, 1, 2])


def test_all_steps_at_once_against_a_loop(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT, PAIR)])[0]
    recipe = Recipe("heads-mean", 1, words=True, specials="renormalise", quarter="B-A")
    made = aggregate(tiny, run, recipe)
    mean = run.attentions[1].astype(np.float64).mean(axis=0)
    tokens: dict[str, list[int]] = {}
    for index, number in enumerate(run.encoding.word_index):
        if number is not None:
            tokens.setdefault(str(number), []).append(index)
    side = {word: run.encoding.token_type_ids[where[0]] for word, where in tokens.items()}
    for i, source in enumerate(word for word in tokens if side[word] == 1):
        given_to = {word: np.mean([mean[a, tokens[word]].sum() for a in tokens[source]]) for word in tokens}
        expected = [given_to[word] / sum(given_to.values()) for word in tokens if side[word] == 0]
        np.testing.assert_allclose(made.values[i], expected)
    assert made.columns.names == ("the", "unflappable", "banker", "smiled", ".")


def test_nothing_left_is_said_plainly(tiny: LoadedModel) -> None:
    encoding = Encoding("", "", ("[CLS]", "[SEP]"), (0, 1), (0, 0), (None, None), (None, None), ((0, 0),) * 2, (1, 1))
    run = Run("m", encoding, np.zeros((2, 2, 4), np.float32), np.full((1, 1, 2, 2), 0.5, np.float32))
    assert aggregate(tiny, run, Recipe("head")).values.shape == (2, 2)
    with pytest.raises(UserError, match="there is nothing to show"):
        aggregate(tiny, run, Recipe("head", specials="hide"))
