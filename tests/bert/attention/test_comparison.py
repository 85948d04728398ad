"""Two runs compared: the difference and the share that moved against plain numpy on transformers' own attentions."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from transformers import BertConfig, BertModel

from demos.bert.attention.comparison import Which, compare, moved
from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, Measured, measured
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache

TEXT = "The unflappable banker smiled."
OTHER = "The unflappable banker frowned again."


@pytest.fixture(scope="module")
def twin(tiny: LoadedModel) -> LoadedModel:
    """Another random BERT of the same shape."""
    torch.manual_seed(1)
    model = BertModel(BertConfig(**tiny.model.config.to_diff_dict()))
    model.set_attn_implementation("eager")
    spec = ModelSpec("twin", "Tiny twin", "", "", 2, 4, 32, cased=False)
    return LoadedModel(spec, tiny.tokenizer, model.eval().requires_grad_(False))


def attentions(loaded: LoadedModel, text: str) -> np.ndarray:
    """transformers' own: [L, H, n, n]"""
    with torch.inference_mode():
        output = loaded.model(**loaded.tokenizer(text, return_tensors="pt"), output_attentions=True)
    return np.stack([layer[0].numpy() for layer in output.attentions])


def test_two_models_differ_by_plain_subtraction(tiny: LoadedModel, twin: LoadedModel) -> None:
    runs = [RunCache().get(loaded, TEXT) for loaded in (tiny, twin)]
    ours, theirs = attentions(tiny, TEXT), attentions(twin, TEXT)
    found = compare(*map(Measured, runs), Which(1, 2), Which(0, 3), fold=True)
    assert not found.alignment.by_word
    np.testing.assert_allclose(found.difference, theirs[0, 3] - ours[1, 2], atol=1e-5)
    mean = compare(*map(Measured, runs), Which(1), Which(), fold=True)
    np.testing.assert_allclose(mean.difference, theirs.mean(axis=(0, 1)) - ours[1].mean(axis=0), atol=1e-5)
    assert found.heads is not None
    for layer, head in np.ndindex(2, 4):
        rows = np.diagonal(cdist(ours[layer, head], theirs[layer, head], "cityblock")) / 2
        assert found.heads[layer, head] == pytest.approx(rows.mean(), abs=1e-5)


def test_by_contribution_shares_of_the_norms_are_compared(tiny: LoadedModel, twin: LoadedModel) -> None:
    models = (tiny, twin)
    runs = [RunCache().get(loaded, TEXT) for loaded in models]
    of_left, of_right = (measured(loaded, run, CONTRIBUTION) for loaded, run in zip(models, runs, strict=True))
    found = compare(of_left, of_right, Which(1, 2), Which(0, 3), fold=True)
    assert (found.measure, compare(*map(Measured, runs), Which(), Which(), fold=True).measure) == (CONTRIBUTION, WEIGHT)
    sides = []
    for loaded, run, layer, head in zip(models, runs, (1, 0), (2, 3), strict=True):
        attention, rows = loaded.model.encoder.layer[layer].attention, slice(8 * head, 8 * head + 8)  # d_k is 8
        states = torch.from_numpy(run.hidden_states[layer].copy())
        value = states @ attention.self.value.weight[rows].T + attention.self.value.bias[rows]
        norms = run.attentions[layer, head] * (value @ attention.output.dense.weight[:, rows].T).norm(dim=-1).numpy()
        sides.append(norms / norms.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.left, sides[0], rtol=1e-4)
    np.testing.assert_allclose(found.difference, sides[1] - sides[0], atol=1e-5)
    np.testing.assert_allclose(found.right.sum(axis=1), 1, atol=1e-5)
    assert found.heads is not None
    same = compare(of_left, of_right, Which(1, 2), Which(1, 2), fold=True)
    assert found.heads[1, 2] == pytest.approx(np.abs(same.difference).sum(axis=1).mean() / 2, abs=1e-5)


def test_the_same_sentence_and_model_differ_nowhere(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, TEXT)
    found = compare(Measured(run), Measured(run), Which(1, 3), Which(1, 3), fold=True)
    assert (found.difference == 0).all()
    assert found.heads is not None
    np.testing.assert_allclose(found.heads, 0, atol=1e-12)


def test_two_sentences_differ_word_by_word(tiny: LoadedModel) -> None:
    """Written out once more with loops: to a word the sum over its pieces, from a word their mean."""
    cache = RunCache()
    left, right = cache.get(tiny, TEXT), cache.get(tiny, OTHER)
    found = compare(Measured(left), Measured(right), Which(1, 0), Which(1, 0), fold=True)
    # [CLS] the unflappable banker smiled | frowned again . [SEP]
    assert found.alignment.names == (
        "[CLS]", "The", "unflappable", "banker", "smiled", "frowned", "again", ".", "[SEP]",
    )  # fmt: skip
    rows = {
        "left": dict(zip([0, 1, 2, 3, 4, 7, 8], pieces(left.encoding.word_ids), strict=True)),
        "right": dict(zip([0, 1, 2, 3, 5, 6, 7, 8], pieces(right.encoding.word_ids), strict=True)),
    }
    ours, theirs = attentions(tiny, TEXT)[1, 0], attentions(tiny, OTHER)[1, 0]
    for i in range(9):
        for j in range(9):
            if any(i not in side or j not in side for side in rows.values()):
                assert np.isnan(found.difference[i, j])
                continue
            a, b = (
                np.mean([sum(weights[p, q] for q in rows[side][j]) for p in rows[side][i]])
                for side, weights in (("left", ours), ("right", theirs))
            )
            assert found.difference[i, j] == pytest.approx(b - a, abs=1e-5)
    np.testing.assert_allclose(np.nansum(found.right, axis=1)[[0, 5, 8]], 1, atol=1e-5)


def pieces(word_ids: tuple[int | None, ...]) -> list[list[int]]:
    """The positions of each special token and word, in order."""
    found: list[list[int]] = []
    for index, word in enumerate(word_ids):
        if word is not None and index and word_ids[index - 1] == word:
            found[-1].append(index)
        else:
            found.append([index])
    return found


def test_the_share_that_moved_by_hand() -> None:
    one = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert moved(one, one) == 0
    assert moved(one, one[:, ::-1]) == pytest.approx(0.5)  # the first row moves all it has, the second nothing
    missing = np.array([[0.0, 1.0, np.nan], [0.5, 0.5, np.nan], [np.nan] * 3])
    whole = np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert moved(missing, whole) == pytest.approx(0.5)  # the third row is not shared
    cut = np.array([[0.25, 0.25], [0.0, 0.0]])
    rest = np.array([[0.25, 0.25, 0.5], [0.0, 0.0, 1.0]])
    assert moved(cut, one) == pytest.approx(
        moved(np.vstack([rest, [np.nan] * 3]), np.vstack([np.pad(one, ((0, 0), (0, 1))), [np.nan] * 3]))
    )
    assert np.isnan(moved(np.full((2, 2), np.nan), one))


def test_models_of_different_shape_have_no_map_of_heads(tiny: LoadedModel, bundled: LoadedModel) -> None:
    cache = RunCache()
    found = compare(
        Measured(cache.get(tiny, TEXT)), Measured(cache.get(bundled, TEXT)), Which(1, 2), Which(5, 11), fold=True
    )
    assert found.heads is None
    assert np.isfinite(found.difference).all()


def test_a_long_input_is_compared_where_it_is_drawn(tiny: LoadedModel) -> None:
    run = RunCache().get(tiny, "sand " * 150)
    found = compare(Measured(run), Measured(run), Which(0, 0), Which(0, 0), fold=True, shown=20)
    assert found.left.shape == (20, 20)
    np.testing.assert_allclose(found.left, run.attentions[0, 0, :20, :20], atol=1e-7)


def test_which_has_a_name() -> None:
    assert [Which(3, 4).name, Which(3).name, Which().name] == [
        "layer 4, head 5",
        "layer 4, mean of all heads",
        "mean of all layers and heads",
    ]
