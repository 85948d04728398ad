"""Maps: PCA by hand, trustworthiness by its formula, the same seed the same map, and few or equal points."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from demos.bert.embeddings import maps
from demos.bert.embeddings.maps import Laying, Layout, MapCache, Recipe, lay_out, own_share
from demos.errors import UserError
from tests.bert.embeddings.stepping import walked


@pytest.fixture(autouse=True, scope="module")
def interpreted() -> None:
    """UMAP without numba's compiler: the same steps, and ten seconds less."""
    import numba

    numba.config.DISABLE_JIT = True  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """40 vectors in two groups, float32 [40, 12]."""
    rng = np.random.default_rng(3)
    return (rng.normal(size=(40, 12)) + np.where(np.arange(40) % 2, 2, -2)[:, None]).astype(np.float32)


def test_pca_is_the_singular_value_decomposition(vectors: np.ndarray) -> None:
    layout = lay_out(vectors, Recipe("pca", 3))
    units = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    u, s, _ = np.linalg.svd(units - units.mean(axis=0), full_matrices=False)
    assert np.abs(layout.points) == pytest.approx(np.abs(u[:, :3] * s[:3]), abs=1e-5)
    assert layout.explained == pytest.approx((s**2 / (s**2).sum())[:3], abs=1e-6)


def test_pca_equals_the_eigenvectors_of_the_covariance() -> None:
    vectors = np.random.default_rng(1).normal(size=(8, 5)) * [5, 3, 1, 0.5, 0.1]
    points, explained = maps.principal(vectors, 3)
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(np.cov(centred.T))
    np.testing.assert_allclose(np.abs(points), np.abs(centred @ directions[:, ::-1][:, :3]), atol=1e-9)
    np.testing.assert_allclose(explained, values[::-1][:3] / values.sum(), atol=1e-12)


def test_pca_of_few_sentences_pads_with_zeros_and_keeps_distances() -> None:
    vectors = np.random.default_rng(2).normal(size=(2, 7))
    points, explained = maps.principal(vectors, 3)
    assert points.shape == (2, 3)
    assert explained[0] == pytest.approx(1)
    np.testing.assert_allclose(cdist(points, points), cdist(vectors, vectors), atol=1e-9)
    points, explained = maps.principal(np.ones((3, 7), dtype=np.float32), 2)
    assert not points.any()
    assert not explained.any()


def test_large_pca_takes_the_other_solver_and_finds_the_same(
    vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = maps.principal(vectors, 2)
    monkeypatch.setattr(maps, "FULL_SVD", 5)
    points, explained = maps.principal(vectors, 2)
    assert np.abs(points) == pytest.approx(np.abs(exact[0]), abs=1e-5)
    assert explained == pytest.approx(exact[1], abs=1e-8)


@pytest.mark.parametrize(("method", "count", "nearby"), [("tsne", 40, 8), ("umap", 12, 3)])
def test_a_seed_makes_the_map(vectors: np.ndarray, method: str, count: int, nearby: int) -> None:
    first, again, other = (lay_out(vectors[:count], Recipe(method, 2, nearby, seed)) for seed in (7, 7, 8))
    assert (first.points == again.points).all()
    assert np.abs(first.points - other.points).max() > 0.1
    groups = own_share(first.nearest_on_map[:, :3], np.arange(count) % 2)
    assert groups.mean() > 0.95  # two groups, far apart in the vectors, are two on the map
    assert (first.nearby, first.points.shape, len(first.explained)) == (nearby, (count, 2), 0)


def test_trustworthiness_and_neighbours_are_what_the_formula_says(vectors: np.ndarray) -> None:
    layout = lay_out(vectors, Recipe("pca", 2))
    m, k = 40, 10
    units = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    false = 0
    kept = 0
    for i in range(m):
        others = [j for j in range(m) if j != i]
        order = sorted(others, key=lambda j, i=i: float(((units[i] - units[j]) ** 2).sum()))  # type: ignore[misc]
        place = {j: number for number, j in enumerate(order, start=1)}
        on_map = sorted(others, key=lambda j, i=i: float(((layout.points[i] - layout.points[j]) ** 2).sum()))[:k]  # type: ignore[misc]
        false += sum(max(0, place[j] - k) for j in on_map)
        kept += len(set(on_map) & set(order[:k]))
        assert layout.nearest[i].tolist() == order[:k]
        assert layout.nearest_on_map[i].tolist() == on_map
    assert layout.trust == pytest.approx(1 - 2 / (m * k * (2 * m - 3 * k - 1)) * false, abs=1e-9)
    assert layout.preservation == pytest.approx(kept / (m * k))


@pytest.mark.parametrize("method", ["pca", "tsne", "umap"])
def test_few_points_and_equal_points_have_a_map(method: str) -> None:
    rng = np.random.default_rng(0)
    for rows in (rng.normal(size=(1, 6)), rng.normal(size=(3, 6)), np.ones((5, 6)), np.zeros((4, 6))):
        layout = lay_out(rows.astype(np.float32), Recipe(method, 3, 30))
        assert layout.points.shape == (len(rows), 3)
        assert np.isfinite(layout.points).all()
    with pytest.raises(UserError, match="no map called"):
        lay_out(np.ones((4, 6)), Recipe("magic"))
    with pytest.raises(UserError, match="1 to 3,000 points"):
        lay_out(np.ones((3_001, 2)), Recipe("pca"))
    with pytest.raises(UserError, match="three points"):
        lay_out(np.ones((2, 6)), Recipe("umap"))


def test_who_asks_again_gets_the_same_map_and_errors_come_through(
    vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = MapCache()
    monkeypatch.setattr(maps, "LOOK_SECONDS", 0.001)

    def drawn(recipe: Recipe) -> tuple[list[Laying], Layout]:
        return walked(cache.steps(vectors, recipe))

    told, layout = drawn(Recipe("tsne", 2, 5))
    assert told
    assert all((one.method, one.count, one.first) == ("tsne", 40, False) for one in told)
    assert drawn(Recipe("tsne", 2, 5)) == ([], layout)
    assert drawn(Recipe("pca", 2, 5, 1))[1] is drawn(Recipe("pca", 2, 9, 2))[1]  # PCA has neither
    with pytest.raises(UserError):
        drawn(Recipe("magic"))
