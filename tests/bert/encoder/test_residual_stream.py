"""A token's path against torch's norms and cosines of the model's own states, and scikit-learn's PCA."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from demos.bert.encoder.residual_stream import paths, principal_plane
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model

TEXT, PAIR = "The old lighthouse keeper rowed home.", "Fog came."


@pytest.mark.parametrize("name", ["tiny", "bundled"])
def test_the_path_in_torchs_own_numbers(request: pytest.FixtureRequest, name: str) -> None:
    loaded: LoadedModel = request.getfixturevalue(name)
    encoding = encode(loaded.tokenizer, TEXT, PAIR)
    found = paths(run_model(loaded, [encoding])[0])
    with torch.no_grad():
        output = loaded.model(**loaded.tokenizer(TEXT, PAIR, return_tensors="pt"), output_hidden_states=True)
    states = torch.stack(output.hidden_states)[:, 0].double()  # [L + 1, n, d]
    cosine = torch.nn.functional.cosine_similarity
    np.testing.assert_allclose(found.norms, states.norm(dim=-1).numpy(), atol=1e-4)
    np.testing.assert_allclose(found.to_start, cosine(states, states[:1], dim=-1).numpy(), atol=1e-5)
    np.testing.assert_allclose(found.to_next, cosine(states[:, 1:], states[:, :-1], dim=-1).numpy(), atol=1e-5)
    np.testing.assert_allclose(
        found.to_mean, cosine(states, states.mean(dim=1, keepdim=True), dim=-1).numpy(), atol=1e-5
    )
    change = (states[1:] - states[:-1]).norm(dim=-1) / states[:-1].norm(dim=-1)
    np.testing.assert_allclose(found.change, change.numpy(), atol=1e-5)
    assert found.points.shape == (*states.shape[:2], 2)
    same_plane(found.points.reshape(-1, 2), found.explained, states.flatten(0, 1).numpy(), 1e-3)


@pytest.mark.parametrize(("m", "d"), [(30, 5), (5, 30), (3, 3), (2, 7)])
def test_the_plane_is_scikit_learns(m: int, d: int) -> None:
    rows = np.random.default_rng(m * d).normal(size=(m, d)) * np.linspace(3, 1, d)
    same_plane(*principal_plane(rows), rows, 1e-8)


def same_plane(points: np.ndarray, explained: np.ndarray, rows: np.ndarray, tolerance: float) -> None:
    """Up to each axis' sign, which here points to the furthest point."""
    pca = PCA(2, svd_solver="full").fit(rows)
    theirs = pca.transform(rows)
    for axis in range(2):
        assert points[np.abs(points[:, axis]).argmax(), axis] >= 0
        sign = np.sign(theirs[:, axis] @ points[:, axis]) or 1
        np.testing.assert_allclose(points[:, axis], sign * theirs[:, axis], atol=tolerance)
    np.testing.assert_allclose(explained, pca.explained_variance_ratio_, atol=1e-6)


def test_one_and_the_same_point_has_no_plane() -> None:
    points, explained = principal_plane(np.ones((4, 3)))
    assert not points.any()
    assert not explained.any()
