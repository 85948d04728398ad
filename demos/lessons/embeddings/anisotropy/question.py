"""The question about the mean cosine of a sentence's tokens, before the first layer and after the last."""

from __future__ import annotations

import numpy as np

from demos.bert.embeddings.similarity import cosine_matrix
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

TIE = 0.02  # cosines that differ by less are the same


def answer(services: Services, sentence: Sentence) -> Answer:
    """The mean cosine of every two tokens that are no special ones, before the first layer and after the last."""
    run = services.run(sentence)
    own = np.flatnonzero(np.array(run.encoding.special_tokens_mask) == 0)
    if len(own) < 2:
        raise UserError("A sentence of at least two words is needed.")
    rows, columns = np.triu_indices(len(own), k=1)
    first, last = (float(cosine_matrix(states[own])[rows, columns].mean()) for states in run.hidden_states[[0, -1]])
    key = "rises" if last > first + TIE else "falls" if last < first - TIE else "stays"
    return Answer(keys=frozenset({key}), facts={"first": first, "last": last})
