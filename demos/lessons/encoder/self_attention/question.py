"""Where one token looks in one head."""

from __future__ import annotations

from demos.page.layer_head_choices import clamp
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def answer(services: Services, sentence: Sentence, token: float, layer: float, head: float) -> Answer:
    """The token with the largest weight; a layer or head beyond the model's becomes its last."""
    run = services.run(sentence)
    at = pick(run.encoding, token)
    row = run.attentions[clamp(layer, run.num_layers), clamp(head, run.num_heads), at]  # [n]
    best = int(row.argmax())
    facts = {"piece": run.encoding.tokens[at], "weight": row[best], "own": row[at], "even": 1 / len(row)}
    return Answer(tokens=frozenset({best}), facts=facts)
