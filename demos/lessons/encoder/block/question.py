"""The question about the longer of the two vectors that a layer adds."""

from __future__ import annotations

import numpy as np

from demos.bert.encoder.layer_trace import layer_ledger
from demos.page.layer_head_choices import clamp
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def answer(services: Services, sentence: Sentence, token: float, layer: float) -> Answer:
    """The lengths of T1 and T4 of one token."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    block = layer_ledger(services.loaded(sentence.model), run, clamp(layer, run.num_layers)).block
    entering, attention, feed = (float(np.linalg.norm(rows[at])) for rows in (block.x, block.t1, block.t4))
    key = "same" if attention == feed else "attention" if attention > feed else "feed"
    facts = {"piece": run.encoding.tokens[at], "attention": attention, "feed": feed, "entering": entering}
    return Answer(keys=frozenset({key}), facts=facts)
