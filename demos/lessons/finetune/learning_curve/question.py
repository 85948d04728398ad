"""The question about a model's accuracy after two dozen examples."""

from __future__ import annotations

import json

import numpy as np

from demos.files import read_asset
from demos.page.questions import Answer
from demos.page.services import Sentence, Services

KEYS = ((0.25, "guess"), (0.5, "little"), (0.75, "half"), (1.01, "most"))


def answer(_: Services, __: Sentence) -> Answer:
    """The means over all seeds of the picture's measurements."""
    measured = json.loads(read_asset("data/learning_curve.json"))["measured"]["emotion"]

    def score(series: str, examples: int) -> float:
        scores = [
            point["score"] for point in measured["points"] if (point["series"], point["examples"]) == (series, examples)
        ]
        return float(np.mean(scores))

    fewest, most = min(measured["sizes"]), max(measured["sizes"])
    reached = score("pretrained", fewest)
    facts = {
        "test": measured["test"],
        "seeds": measured["seeds"],
        "pretrained": reached,
        "more": score("pretrained", most),
        "most": most,
        "words": score("words", fewest),
    }
    return Answer(keys=frozenset({next(key for bound, key in KEYS if reached < bound)}), facts=facts)
