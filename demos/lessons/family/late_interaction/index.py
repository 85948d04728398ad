"""The app's sentences as token vectors, for all readers of a model once; and how well each score searches them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.late_interaction import TokenVectors, max_sims, token_vectors
from demos.bert.embeddings.search import Precision, precision_at
from demos.bert.embeddings.similarity import cosine, cosine_matrix
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.page.services import Services
from demos.training.data.lists import our_library

KEPT_MODELS = 2
PLACES = 10  # of precision


@dataclass(frozen=True)
class Index:
    """m sentences under both scores."""

    tokens: list[TokenVectors]
    means: np.ndarray  # [m, d]
    by_mean: Precision
    by_token: Precision

    def scores(self, query: TokenVectors) -> tuple[np.ndarray, np.ndarray]:
        """(cosine of the mean vectors, MaxSim) of a query with every sentence, each [m]."""
        return cosine(np.broadcast_to(query.mean, self.means.shape), self.means), max_sims([query], self.tokens)[0]


_indices: OnceCache[None, Index] = OnceCache(KEPT_MODELS)


def index_of(services: Services, model: str) -> Index:
    """The app's sentences as a model reads them."""
    loaded = services.loaded(model)

    def read() -> Generator[None, None, Index]:
        library = our_library()
        yield
        tokens = token_vectors(loaded, library.sentences)
        means = np.stack([one.mean for one in tokens])
        pairs = max_sims(tokens, tokens)
        scores = (cosine_matrix(means), pairs)
        yield
        return Index(tokens, means, *(precision_at(score, library.topics, PLACES) for score in scores))

    return _indices.get((loaded.spec, id(loaded.model)), read, None)


def query_of(services: Services, model: str, text: str) -> TokenVectors:
    """A query's vectors. Raises UserError where it has no word."""
    (query,) = token_vectors(services.loaded(model), [text])
    if not len(query):
        raise UserError("There is no word to search for; write a query.")
    return query
