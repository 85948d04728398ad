"""A query against a list, token by token: both rankings, and one text of the list opened as a matrix."""

from collections.abc import Generator

import numpy as np

from demos.bert.embeddings.late_interaction import TokenVectors, interaction, token_vectors
from demos.bert.embeddings.search import Precision, ranking
from demos.bert.embeddings.vector_cache import Encoded
from demos.errors import UserError
from demos.page.layer_head_choices import clamp
from demos.page.services import Services
from demos.page.view import Shown
from demos.training.data.lists import Listed
from demos.widgets.late_interaction.figure import SHOWN, interaction_figure, lists_html, numbers_html, summary_html

LONGEST = 300  # characters of a query


def query_of(services: Services, model: str, text: str) -> TokenVectors:
    """The vectors of a query's first LONGEST characters. Raises UserError if it has no word."""
    (query,) = token_vectors(services.loaded(model), [text[:LONGEST]])
    if not len(query):
        raise UserError("There is no word to search for; write a query.")
    return query


def searched(
    services: Services,
    model: str,
    listed: Listed,
    query: TokenVectors,
    place: int,
    precisions: tuple[Precision, Precision] | None = None,
    scores: tuple[np.ndarray, np.ndarray] | None = None,
) -> Generator[Encoded, None, Shown]:
    """The outputs of the part's components, by name: matrix, told, lists and numbers; yields the progress while the
    list is encoded.

    `place`, from 1, is that of the text to open among the first of MaxSim's; `scores` are the index's of this query
    where they are known. Raises UserError as `TokenIndexes.steps` does, and where the opened text has no word.
    """
    index = yield from services.token_vectors.steps(services.loaded(model), listed.sentences)
    by_mean, by_token = scores or index.scores(query)
    opened = int(ranking(by_token)[clamp(place - 1, min(SHOWN, len(listed.sentences)))])
    against = index.tokens[opened]
    maxsim = interaction(query, against)
    return {
        "matrix": interaction_figure(query, against, maxsim),
        "told": summary_html(query, listed.sentences[opened], against, maxsim, float(by_mean[opened])),
        "lists": lists_html((by_mean, by_token), precisions, listed.sentences, listed.topics, (1.0, float(len(query)))),
        "numbers": numbers_html(query, against, maxsim, index.token_count, len(index.tokens)),
    }
