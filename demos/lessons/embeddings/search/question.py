"""The question about words that the query shares with the results of a search by vectors."""

from __future__ import annotations

import numpy as np

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords, ranking
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.text import clean_text
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.training.data.lists import our_library

FIRST = 3
KEYS = ("none", "some", "some", "all")


def answer(services: Services, sentence: Sentence, search_query: str) -> Answer:
    """The three sentences with the largest cosine, and how many of them have a word of the query that counts."""
    loaded, sentences = services.loaded(sentence.model), our_library().sentences
    query = clean_text(search_query, "The query").strip() or sentence.text
    choice = Choice("mean", loaded.spec.num_layers)
    (library,) = services.vectors.get(loaded, sentences, [choice])
    (query_vector,) = services.vectors.get(loaded, [query], [choice])
    alike = cosine(library, np.broadcast_to(query_vector, library.shape))
    best = ranking(alike)[:FIRST]
    nearest = [sentences[place] for place in best]
    shared = sum(map(bool, Keywords(sentences).shared(query, nearest)))
    facts = {"shared": shared, "first": nearest[0], "cosine": alike[best[0]]}
    return Answer(keys=frozenset({KEYS[shared]}), facts=facts)
