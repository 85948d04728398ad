"""The question about a token's weight on itself, answered with the share of tokens for which it is the largest."""

from __future__ import annotations

import numpy as np

from demos.counting import counted
from demos.page.layer_head_choices import clamp
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def answer(services: Services, sentence: Sentence, token: float, layer: float, head: float) -> Answer:
    """One row of one head, and all rows of all heads; a layer or head beyond the model's becomes its last."""
    run = services.run(sentence)
    at, layer, head = pick(run.encoding, token), clamp(layer, run.num_layers), clamp(head, run.num_heads)
    row = run.attentions[layer, head, at]  # [n]
    best = int(row.argmax())
    own = run.attentions.argmax(axis=-1) == np.arange(len(row))  # [L, A, n]
    return Answer(
        facts={
            "layer": counted(layer),
            "head": counted(head),
            "heads": run.num_layers * run.num_heads,
            "piece": run.encoding.tokens[at],
            "best": run.encoding.tokens[best],
            "weight": row[best],
            "own": row[at],
            "share": own.mean(),
            "even": 1 / len(row),
        }
    )
