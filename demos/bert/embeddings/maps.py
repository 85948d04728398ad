"""Maps of vectors: PCA, t-SNE and UMAP in two or three dimensions, and how much of the neighbourhood each one keeps."""

import hashlib
import threading
import time
import warnings
from collections.abc import Generator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from demos.bert.embeddings.similarity import normalised
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError

PCA_MAP, TSNE_MAP, UMAP_MAP = "pca", "tsne", "umap"
METHODS = (PCA_MAP, TSNE_MAP, UMAP_MAP)
NEIGHBOURS = 10  # of each point, over which a map is judged
MAX_POINTS = 3_000
MAX_MAPS = 48
AT_ONCE = 2  # maps being made; one whose reader has left runs to its end, but there are no more than these
FULL_SVD = 1_000  # rows or columns; above, LAPACK's whole decomposition takes seconds and ARPACK finds the same axes
LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Recipe:
    """The settings of a map.

    `nearby` is t-SNE's perplexity and UMAP's n_neighbors; PCA takes neither it nor the seed.
    """

    method: str
    dimensions: int = 2
    nearby: int = 30
    seed: int = 0  # 0 starts from PCA's map, any other number from places drawn by it


@dataclass(frozen=True, eq=False)
class Layout:
    """A map of m points and what can be measured of it; a neighbour's number is a row, nearest first."""

    points: np.ndarray  # float64 [m, k]
    explained: np.ndarray  # the share of the variance on each axis [k]; [0] for what is not PCA
    nearby: float  # as used: few points have few neighbours
    trust: float  # trustworthiness, 0..1; nan for fewer than three points
    nearest: np.ndarray  # int [m, n]: by the vectors' cosine
    nearest_on_map: np.ndarray  # int [m, n]: by the distance on the map

    @property
    def preservation(self) -> float:
        """The share of the neighbours in the vectors' space that are neighbours on the map too."""
        same = (self.nearest[:, :, None] == self.nearest_on_map[:, None]).sum()  # no row has a neighbour twice
        return int(same) / self.nearest.size if self.nearest.size else 1.0


@dataclass(frozen=True)
class Laying:
    """A map under way."""

    method: str
    count: int  # points
    seconds: float
    first: bool = False  # UMAP is being loaded and compiled


class MapCache:
    """Maps by vectors and recipe, each made once for all readers."""

    def __init__(self) -> None:
        self._maps: OnceCache[Laying, Layout] = OnceCache(MAX_MAPS)

    def steps(self, vectors: np.ndarray, recipe: Recipe) -> Generator[Laying, None, Layout]:
        """`lay_out` with its progress: yields at once, then four times a second, and returns the map."""
        digest = hashlib.blake2b(np.ascontiguousarray(vectors).data, digest_size=16).hexdigest()
        if recipe.method == PCA_MAP:
            recipe = Recipe(PCA_MAP, recipe.dimensions)
        key = (digest, vectors.shape, recipe)
        return (
            yield from self._maps.steps(
                key, lambda: _lay_out_steps(vectors, recipe), _progress(len(vectors), recipe, 0.0)
            )
        )


def lay_out(vectors: np.ndarray, recipe: Recipe) -> Layout:
    """The map of vectors [m, d], each divided by its length, so that near means a high cosine.

    PCA: Pearson 1901. t-SNE: van der Maaten and Hinton 2008, scikit-learn's. UMAP: McInnes, Healy and Melville 2018,
    umap-learn's. Both begin at PCA's map, made small (Kobak and Linderman 2021), or, with another seed than 0,
    anywhere. The same recipe gives the same map. Raises UserError for an unknown method, no or too many points, and
    fewer than three for UMAP.
    """
    m = len(vectors)
    if not 1 <= m <= MAX_POINTS:
        raise UserError(f"A map can have 1 to {MAX_POINTS:,} points; here there are {m:,}.")
    if recipe.method not in METHODS:
        raise UserError(f"There is no map called {str(recipe.method)[:20]!r} here.")
    with threadpool_limits(1):  # two threads on shared cores wait for each other: ten times as slow
        units = normalised(np.asarray(vectors, dtype=np.float32))
        explained, nearby = np.zeros(0), 0.0
        if recipe.method == PCA_MAP or m == 1:
            points, explained = principal(units, recipe.dimensions)
        elif recipe.method == TSNE_MAP:
            nearby = min(float(recipe.nearby), (m - 1) / 3)
            points = _tsne(units, recipe, nearby)
        else:
            if m < 3:
                raise UserError("UMAP needs at least three points.")
            nearby = min(recipe.nearby, m - 1)
            points = _umap(units, recipe, int(nearby))
        points = points.astype(np.float64)
        if recipe.method != PCA_MAP:
            points = principal(points, recipe.dimensions)[0]  # turned, no more: its directions mean nothing
        return Layout(
            points=points,
            explained=explained,
            nearby=nearby,
            trust=trust(units, points),
            nearest=_nearest(units @ units.T),
            nearest_on_map=_nearest(-cdist(points, points, "sqeuclidean")),
        )


def principal(units: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """PCA (Pearson 1901), scikit-learn's: (points [m, k], share of the variance on each axis [k]).

    m points span m - 1 directions at most; axes beyond hold zeros.
    """
    rows = np.asarray(units, dtype=np.float64)
    points, explained = np.zeros((len(rows), dimensions)), np.zeros(dimensions)
    k = min(dimensions, *rows.shape)
    if not np.allclose(rows, rows[0], rtol=0, atol=1e-9):  # one and the same point has no directions
        pca = PCA(k, svd_solver="full" if min(rows.shape) <= FULL_SVD else "arpack", random_state=0)
        points[:, :k] = pca.fit_transform(rows)
        explained[:k] = pca.explained_variance_ratio_
    return points, explained


def trust(units: np.ndarray, points: np.ndarray) -> float:
    """Trustworthiness (Venna and Kaski 2001), scikit-learn's: 1 where the map shows no false neighbours.

    Over NEIGHBOURS neighbours, fewer where there are few points; nan for fewer than three points.
    """
    k = min(NEIGHBOURS, (len(units) - 1) // 2)
    return float(trustworthiness(units, points, n_neighbors=k)) if k else float("nan")


def own_share(nearest: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """For each point the share of its neighbours [m, n] that are of its class [m]: float64 [m]."""
    if not nearest.shape[1]:
        return np.ones(len(nearest))
    return np.asarray((classes[nearest] == classes[:, None]).mean(axis=1))


def _nearest(likeness: np.ndarray) -> np.ndarray:
    """The NEIGHBOURS most alike others of each row of [m, m], most alike first."""
    likeness = likeness.astype(np.float64)
    np.fill_diagonal(likeness, -np.inf)
    return np.argsort(-likeness, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(likeness) - 1)]


def _start(units: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The start of a map, the first axis of length 1 (standard deviation): PCA's places, or random ones. [m, k]"""
    if recipe.seed:
        return np.random.default_rng(recipe.seed).standard_normal((len(units), recipe.dimensions))
    points, _ = principal(units, recipe.dimensions)
    return points / (points[:, 0].std() or 1.0)


def _tsne(units: np.ndarray, recipe: Recipe, perplexity: float) -> np.ndarray:
    start = (1e-4 * _start(units, recipe)).astype(np.float32)
    tsne = TSNE(recipe.dimensions, perplexity=perplexity, init=start, random_state=recipe.seed)
    return np.asarray(tsne.fit_transform(units))


_umap_turn = threading.Lock()  # numba ends the whole process where two threads enter its parallel loops at once
_umap_ready = threading.Event()


def _umap(units: np.ndarray, recipe: Recipe, nearby: int) -> np.ndarray:
    with _umap_turn, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that a seed means one thread, and that few points are few
        import numba  # both here: they take seconds to load, and most readers never open a UMAP map
        import umap

        numba.set_num_threads(1)
        start = _start(units, recipe).astype(np.float32)
        reducer: Any = umap.UMAP(
            n_neighbors=nearby, n_components=recipe.dimensions, init=start, random_state=recipe.seed, n_jobs=1
        )
        points = np.asarray(reducer.fit_transform(units))
        _umap_ready.set()
    return np.nan_to_num(points)


_slots = threading.BoundedSemaphore(AT_ONCE)


def _progress(count: int, recipe: Recipe, seconds: float) -> Laying:
    first = recipe.method == UMAP_MAP and not _umap_ready.is_set()
    return Laying(recipe.method, count, seconds, first)


def _lay_out_steps(vectors: np.ndarray, recipe: Recipe) -> Generator[Laying, None, Layout]:
    """`lay_out` in a separate thread, so that a waiting reader can see the progress, and can leave."""
    layout: Future[Layout] = Future()

    def work() -> None:
        with _slots:
            if layout.set_running_or_notify_cancel():
                try:
                    layout.set_result(lay_out(vectors, recipe))
                except Exception as error:
                    layout.set_exception(error)

    began = time.monotonic()
    threading.Thread(target=work, name="map", daemon=True).start()
    try:
        while not wait([layout], LOOK_SECONDS).done:
            yield _progress(len(vectors), recipe, time.monotonic() - began)
    finally:
        layout.cancel()
    return layout.result()
