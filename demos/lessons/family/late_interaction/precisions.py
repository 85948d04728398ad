"""The precision of both scores on the app's sentences, for any query: computed once for all readers of a model."""

from collections.abc import Generator

from demos.bert.embeddings.late_interaction import max_sims
from demos.bert.embeddings.search import Precision, precision_at
from demos.bert.embeddings.similarity import cosine_matrix
from demos.bert.embeddings.token_index import TokenIndex
from demos.bert.model.once_cache import ObjectNumbers, OnceCache
from demos.page.services import Services
from demos.training.data.lists import our_library

KEPT_MODELS = 8  # four numbers each
PLACES = 10  # of precision

_models = ObjectNumbers()
_precisions: OnceCache[None, tuple[Precision, Precision]] = OnceCache(KEPT_MODELS)


def library_index(services: Services, model: str) -> TokenIndex:
    """The app's sentences as a model reads them."""
    return services.token_vectors.get(services.loaded(model), our_library().sentences)


def library_precisions(services: Services, model: str) -> tuple[Precision, Precision]:
    """The precision of the cosine of mean vectors, and of MaxSim, with each of the app's sentences as a query."""
    loaded = services.loaded(model)

    def measured() -> Generator[None, None, tuple[Precision, Precision]]:
        index, topics = library_index(services, model), our_library().topics
        yield
        similarities = cosine_matrix(index.means), max_sims(index.tokens, index.tokens)
        yield
        by_mean, by_token = (precision_at(similarity, topics, PLACES) for similarity in similarities)
        return by_mean, by_token

    return _precisions.get(_models.of(loaded.model), measured, None)
