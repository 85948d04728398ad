"""Which heads attend to the token before."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.patterns import even_scores, pattern_scores
from demos.counting import counted
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

BEST = 5
PATTERN = "previous"


def answer(services: Services, sentence: Sentence) -> Answer:
    """The heads with the largest mean weight from a token to the one before it."""
    run = services.run(sentence)
    scores = pattern_scores(run.attentions, run.encoding)[PATTERN]  # [L, A]
    if np.isnan(scores).any():
        raise UserError("This input has no token before another; type a sentence first.")
    order = np.argsort(-scores, axis=None, kind="stable")[:BEST]
    best = [(int(layer), int(head)) for layer, head in zip(*np.unravel_index(order, scores.shape), strict=True)]
    layer, head = best[0]
    facts = {"layer": counted(layer), "head": counted(head), "share": scores[layer, head]}
    facts["even"] = even_scores(run.encoding)[PATTERN]
    return Answer(heads=frozenset(best), facts=facts)
