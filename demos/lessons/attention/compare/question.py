"""The question about the first layer in which two sentences can differ, answered with the layer that differs most."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.comparison import Which, compare
from demos.bert.attention.contributions import Measured
from demos.counting import counted
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence, compare_text: str) -> Answer:
    """The layer in which the largest share of the weights is on different tokens, on average over its heads."""
    left, right = services.run(sentence), services.run(Sentence(compare_text, sentence.text_pair, sentence.model))
    if left.encoding.input_ids == right.encoding.input_ids:
        raise UserError("Both sentences are the same, so no attention differs; change a word of one.")
    heads = compare(Measured(left), Measured(right), Which(0, 0), Which(0, 0), fold=False).heads
    assert heads is not None  # one model
    layers = heads.mean(axis=1)
    if np.isnan(layers).any():
        raise UserError("The two sentences share no word, so there is nothing to compare.")
    most, least = int(layers.argmax()), int(layers.argmin())
    facts = {"layer": counted(most), "most": layers[most], "least": counted(least), "smallest": layers[least]}
    return Answer(facts=facts | {"other": compare_text})
