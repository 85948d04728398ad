"""The question about the token that gets the most attention, over all heads and layers."""

from __future__ import annotations

import numpy as np

from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The column with the largest mean over layers, heads and rows."""
    attentions = services.run(sentence).attentions
    received = attentions.mean(axis=(0, 1, 2), dtype=np.float64)  # [n]
    best = int(received.argmax())
    return Answer(tokens=frozenset({best}), facts={"share": received[best], "even": 1 / len(received)})
