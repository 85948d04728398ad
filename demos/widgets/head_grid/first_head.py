"""The head that is open at first: in the model in use, the one that gives most weight to the token before."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.patterns import pattern_scores
from demos.page.bar import DEFAULT_TEXT
from demos.page.services import Services

OPENED = (0, 2)  # layer and head at first, the bundled model's: of another model they are found when it is first drawn

_found: dict[tuple[str, str], tuple[int, int]] = {}  # by model; two numbers each


def previous_head(services: Services, model: str) -> tuple[int, int]:
    """(layer, head) with the highest "previous token" score on the sentence that the page opens with."""
    loaded = services.loaded(model)
    key = (loaded.spec.key, loaded.spec.revision)
    if key not in _found:
        run = services.runs.get(loaded, DEFAULT_TEXT, "")
        scores = pattern_scores(run.attentions, run.encoding)["previous"]
        layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
        _found[key] = (int(layer), int(head))
    return _found[key]


def head_to_open(services: Services, model: str, layer: float, head: float, drawn: str) -> tuple[float, float]:
    """(layer, head): what the reader picked; or, where nobody has moved it, this model's own.

    `drawn` is the `run_key` of what was drawn before, empty at first: only another model's head is exchanged.
    """
    now, before = services.loaded(model).spec, drawn.rpartition(".")[0]
    if before == now.key:
        return layer, head
    last = next((place for (key, _), place in _found.items() if key == before), None) if before else OPENED
    return previous_head(services, now.key) if (int(layer or 0), int(head or 0)) == last else (layer, head)
