"""The question about the vectors that late interaction stores, answered with the overlap of both scores."""

from __future__ import annotations

from demos.bert.embeddings.search import ranking
from demos.lessons.family.late_interaction.part import query_text
from demos.lessons.family.late_interaction.precisions import library_index
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.training.data.lists import our_library
from demos.widgets.late_interaction.figure import SHOWN
from demos.widgets.late_interaction.late_interaction import query_of


def answer(services: Services, sentence: Sentence, late_query: str) -> Answer:
    """The vectors of the app's sentences, the overlap of the two lists' first ten, and the first of each."""
    sentences = our_library().sentences
    query = query_of(services, sentence.model, query_text(sentence, late_query))
    index = library_index(services, sentence.model)
    by_mean, by_token = map(ranking, index.scores(query))
    shared = len({*by_mean[:SHOWN].tolist()} & {*by_token[:SHOWN].tolist()})
    facts = {"shared": shared, "by_mean": sentences[by_mean[0]], "by_token": sentences[by_token[0]]}
    return Answer(facts=facts | {"sentences": f"{len(sentences):,}", "vectors": f"{index.token_count:,}"})
