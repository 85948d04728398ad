"""The scores of all heads on the part's own sentences, computed once for all readers of a model."""

from __future__ import annotations

from demos.bert.attention.grammar import Relation, measure_grammar, read_sentences
from demos.bert.model.once_cache import OnceCache
from demos.files import read_beside
from demos.page.services import Services

SENTENCES = read_sentences(read_beside(__file__, "sentences.txt"))
MAX_CACHED = 8  # models' scores

_scores: OnceCache[int, dict[str, Relation]] = OnceCache(MAX_CACHED)


def relations_of(services: Services, model: str) -> dict[str, Relation]:
    """Every relation by its name, as this model's heads score at it."""
    loaded = services.loaded(model)
    return _scores.get((loaded.spec.key, loaded.spec.revision), lambda: measure_grammar(loaded, SENTENCES), 0)
