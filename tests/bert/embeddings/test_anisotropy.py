"""Anisotropy, measured spaces, whitening and repairs: against plain loops, transformers, scikit-learn and scipy."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from demos.bert.embeddings.anisotropy import contributions, dominating, random_shares, stranger_cosines
from demos.bert.embeddings.anisotropy_repairs import (
    CENTRED,
    RAW,
    TRIMMED,
    WHITE_ALL,
    all_but_the_top,
    axes_to_drop,
    centred,
    fit_axes,
    repair,
    repairs,
    whitened,
)  # fmt: skip
from demos.bert.embeddings.vector_space import CLS, EDGES, MEAN, TOP, WORDS, draw_tokens, measure
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

SENTENCES = ["The kettle sings.", "Willows grow by the river bank.", "Who left early? 🎻", "It rained and rained."]


def plain_loop(vectors: np.ndarray, groups: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean cosine of rows of different groups and each dimension's part, pair by pair."""
    cosines, parts = [], []
    for i, j in product(range(len(vectors)), repeat=2):
        if groups[i] != groups[j]:
            x, y = vectors[i].astype(float), vectors[j].astype(float)
            part = x * y / (np.sqrt((x**2).sum()) * np.sqrt((y**2).sum()))
            parts.append(part)
            cosines.append(part.sum())
    return float(np.mean(cosines)), np.mean(parts, axis=0)


def test_a_measured_space_is_what_plain_loops_find_in_transformers_own_states(tiny: LoadedModel) -> None:
    space = drained(measure(tiny, SENTENCES, seed=3, most=12))
    lengths = [len(tiny.tokenizer(text)["input_ids"]) for text in SENTENCES]
    drawn = draw_tokens(lengths, 12, 3)
    assert sum(map(len, drawn)) == space.tokens == 12
    assert all(0 < at < length - 1 for rows, length in zip(drawn, lengths, strict=True) for at in rows)
    rows: dict[str, list[list[np.ndarray]]] = {WORDS: [], MEAN: [], CLS: [], "sep": []}
    with torch.inference_mode():
        for text, places in zip(SENTENCES, drawn, strict=True):
            hidden = tiny.model(**tiny.tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
            states = [layer[0].numpy() for layer in hidden]
            rows[WORDS].append([layer[places] for layer in states])
            rows[MEAN].append([layer.mean(axis=0, keepdims=True) for layer in states])
            rows[CLS].append([layer[:1] for layer in states])
            rows["sep"].append([layer[-1:] for layer in states])
    for kind, cloud in space.clouds.items():
        sizes = [len(layers[0]) for layers in rows[kind]]
        groups = np.repeat(np.arange(len(SENTENCES)), sizes)
        for layer in range(3):
            vectors = np.concatenate([layers[layer] for layers in rows[kind]])
            mean, parts = plain_loop(vectors, groups)
            assert cloud.anisotropy[layer] == pytest.approx(mean, abs=1e-6)
            np.testing.assert_allclose(cloud.contributions[layer], parts, atol=1e-6)
            kept = np.delete(vectors, np.argsort(-parts)[:TOP], axis=1)
            assert cloud.trimmed[layer] == pytest.approx(plain_loop(kept, groups)[0], abs=1e-5)
            np.testing.assert_allclose(cloud.mean[layer], vectors.mean(axis=0), atol=1e-5)
            norms = np.linalg.norm(vectors, axis=1)
            np.testing.assert_allclose(cloud.norms[layer], np.quantile(norms, [0.05, 0.5, 0.95]), rtol=1e-4)
            middles = (EDGES[1:] + EDGES[:-1]) / 2
            assert cloud.shares[layer].sum() == pytest.approx(1)
            assert cloud.shares[layer] @ middles == pytest.approx(mean, abs=0.011)  # half a bin
    seps = np.linalg.norm(np.array([[layer[0] for layer in layers] for layers in rows["sep"]]), axis=2)
    np.testing.assert_allclose(space.sep[:, 1], np.median(seps, axis=0), rtol=1e-4)
    with pytest.raises(UserError, match="At least two sentences"):
        drained(measure(tiny, ["", "One."]))


def test_contributions_sum_to_the_mean_cosine_and_pairs_are_of_strangers() -> None:
    rows = np.random.default_rng(0).normal(1, 2, (40, 7))
    rows[3] = 0
    groups = np.array([0, 1, 2, 3] * 10)  # not in blocks
    cosines = stranger_cosines(rows, groups)
    assert len(cosines) == 40 * 30 / 2
    assert contributions(rows, groups).sum() == pytest.approx(float(cosines.mean()), abs=1e-6)
    assert contributions(rows).sum() == pytest.approx(float(stranger_cosines(rows).mean()), abs=1e-6)
    assert contributions(np.ones((3, 4))).sum() == pytest.approx(1)
    assert dominating(np.array([0.1, 0.5, -2.0, 0.3]), 2).tolist() == [1, 3]
    for few in (rows[:1], rows[:0]):
        with pytest.raises(UserError, match="of at least two sentences"):
            contributions(few)
    with pytest.raises(UserError, match="of at least two sentences"):
        contributions(rows, np.zeros(40))


def test_random_directions_have_the_cosines_that_are_drawn() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 40_000, 24))
    cosines = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    simulated = np.histogram(cosines, EDGES)[0] / len(cosines)
    shares = random_shares(EDGES, 24)
    np.testing.assert_allclose(shares, simulated, atol=0.004)
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    assert np.sqrt(shares @ middles**2) == pytest.approx(1 / np.sqrt(24), rel=1e-3)


def test_whitening_centring_and_all_but_the_top() -> None:
    rng = np.random.default_rng(2)
    sample = rng.normal(size=(60, 12)) @ rng.normal(size=(12, 12)) + 5
    axes = fit_axes(sample)
    assert axes.rank == 12
    np.testing.assert_allclose(centred(sample, axes).mean(axis=0), 0, atol=1e-9)
    for count in (4, None):
        white = whitened(sample, axes, count)
        np.testing.assert_allclose(np.cov(white.T), np.eye(count or 12), atol=1e-4)
    reference = PCA(n_components=4, whiten=True).fit(sample)
    fresh = rng.normal(size=(5, 12))
    np.testing.assert_allclose(np.abs(whitened(fresh, axes, 4)), np.abs(reference.transform(fresh)), atol=1e-6)
    rest = all_but_the_top(fresh, axes, 4)
    np.testing.assert_allclose(rest @ reference.components_.T, 0, atol=1e-8)
    np.testing.assert_allclose(rest + (fresh - sample.mean(axis=0)) @ reference.components_.T @ reference.components_,
                               fresh - sample.mean(axis=0), atol=1e-8)  # fmt: skip
    narrow = fit_axes(sample[:5])  # fewer sentences than dimensions: no axis that the sample does not have
    assert narrow.rank == 4
    np.testing.assert_allclose(np.cov(whitened(sample[:5], narrow).T), np.eye(4), atol=1e-4)
    for same in (np.ones((6, 3)), np.ones((1, 3)), np.zeros((4, 3))):
        with pytest.raises(UserError):
            fit_axes(same)


def test_repairs_are_scored_as_scipy_scores_them() -> None:
    rng = np.random.default_rng(4)
    sample = rng.normal(size=(90, 10)) + np.eye(10)[3] * 9  # dimension 3 is what all have in common
    scores = rng.integers(0, 6, 40).astype(float)
    first, second = rng.permutation(90)[:40], rng.permutation(90)[:40]
    found = {one.name: one for one in repairs(sample, sample, first, second, scores)}
    made = repair(sample, sample)
    assert found[TRIMMED].dimensions == 7
    np.testing.assert_array_equal(made[RAW], sample)
    assert not np.isin(sample[:, 3], made[TRIMMED]).any()
    for name, rows in made.items():
        cosines = [rows[i] @ rows[j] / np.linalg.norm(rows[i]) / np.linalg.norm(rows[j])
                   for i, j in zip(first, second, strict=True)]  # fmt: skip
        assert found[name].correlation.spearman == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-9)
    gain = found[CENTRED].gain
    assert gain.difference == pytest.approx(found[CENTRED].correlation.spearman - found[RAW].correlation.spearman)
    assert gain.low < gain.difference < gain.high
    assert found[RAW].gain is None
    assert found[WHITE_ALL].dimensions == 10
    assert (axes_to_drop(384), axes_to_drop(768), axes_to_drop(10)) == (4, 8, 1)
