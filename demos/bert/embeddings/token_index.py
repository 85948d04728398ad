"""A list of texts as token vectors, for all readers of a model once: what MaxSim searches; bounded, with progress."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.late_interaction import TokenVectors, max_sims, token_vector_steps
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded, digest_of
from demos.bert.model.generators import drained
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import ObjectNumbers, OnceCache
from demos.errors import UserError

MOST_TEXTS = 500  # of a list
MOST_TOKENS = 128  # of a text; longer ones are cut
KIND = "token vectors"  # as the memory budget calls them
MAX_CACHE_BYTES = 256 * 2**20  # of all lists: 500 texts of 128 tokens are 98 MB in MiniLM and 262 MB in BERT large


@dataclass(frozen=True)
class TokenIndex:
    """m texts, under both scores."""

    tokens: list[TokenVectors]
    means: np.ndarray  # <float32>[m, d]

    @property
    def nbytes(self) -> int:
        return self.means.nbytes + sum(vectors.units.nbytes for vectors in self.tokens)

    @property
    def token_count(self) -> int:
        """The number of vectors in an index with one for each token."""
        return sum(map(len, self.tokens))

    def scores(self, query: TokenVectors) -> tuple[np.ndarray, np.ndarray]:
        """(cosine of the mean vectors, MaxSim) of a query with every text, each [m].

        Raises UserError where the query has no word.
        """
        return cosine(np.broadcast_to(query.mean, self.means.shape), self.means), max_sims([query], self.tokens)[0]


class TokenIndexes:
    """Indices by (model, texts), least recently used out first, within MAX_CACHE_BYTES; safe for many threads."""

    def __init__(self, memory: Budget | None = None) -> None:
        self._memory = Budget() if memory is None else memory
        self._models = ObjectNumbers()
        self._indexes: OnceCache[Encoded, TokenIndex] = OnceCache(
            MAX_CACHE_BYTES, lambda result: result[0].nbytes, self._memory, KIND
        )

    def steps(self, loaded: LoadedModel, texts: Sequence[str]) -> Generator[Encoded, None, TokenIndex]:
        """The index of these texts, each cut to MOST_TOKENS tokens; yields after each batch.

        Closed early, the work ends with the batch. Raises UserError for more than MOST_TEXTS texts, or without memory.
        """
        if len(texts) > MOST_TEXTS:
            raise UserError(
                f"MaxSim needs a vector for each token, so a list may have at most {MOST_TEXTS} sentences for it; this "
                f"one has {len(texts):,}."
            )

        def read() -> Generator[Encoded, None, TokenIndex]:
            with self._memory.claim(KIND, 4.0 * loaded.spec.width * MOST_TOKENS * len(texts), throw_away=True):
                tokens = yield from token_vector_steps(loaded, texts, MOST_TOKENS)
                return TokenIndex(tokens, np.stack([vectors.mean for vectors in tokens]))

        key = (self._models.of(loaded.model), digest_of(texts))
        return (yield from self._indexes.steps(key, read, Encoded(0, len(texts))))

    def get(self, loaded: LoadedModel, texts: Sequence[str]) -> TokenIndex:
        """`steps` without its progress."""
        return drained(self.steps(loaded, texts))
