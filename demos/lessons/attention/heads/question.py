"""The question about the third of the layers that has the strongest head for the previous token."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.patterns import even_scores, pattern_scores
from demos.counting import counted
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

THIRDS = ("first", "middle", "last")
PATTERN = "previous"


def answer(services: Services, sentence: Sentence) -> Answer:
    """The head with the largest mean weight from a token to the one before it. UserError where there is none."""
    run = services.run(sentence)
    scores = pattern_scores(run.attentions, run.encoding)[PATTERN]  # [L, A]
    if np.isnan(scores).any():
        raise UserError("This input has no token before another; type a sentence first.")
    layer, head = (int(place) for place in np.unravel_index(scores.argmax(), scores.shape))
    facts = {"layer": counted(layer), "head": counted(head), "share": scores[layer, head]}
    facts["even"] = even_scores(run.encoding)[PATTERN]
    return Answer(keys=frozenset({THIRDS[layer * 3 // len(scores)]}), facts=facts)
