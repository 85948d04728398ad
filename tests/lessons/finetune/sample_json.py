"""assets/data/after.json as `tests/benchmarks/after.py --write` writes it."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.training.results.answers import StoredAnswers
from demos.training.results.evidence import Error, Evidence

ERRORS = 6
DIGITS = 4


def sample_json(
    told: str,
    text: str,
    labels: Sequence[str],
    kept: StoredAnswers,
    heads: np.ndarray,
    found: Sequence[tuple[Error, Evidence]],
) -> str:
    """A run's numbers as the part's `sample` reads them."""
    document: dict[str, Any] = {
        "told": told,
        "text": text,
        "labels": list(labels),
        "confidence": [round(one, DIGITS) for one in kept.confidence],
        "right": [int(one) for one in kept.right],
        "heads": np.round(heads, DIGITS).tolist(),
        "errors": [
            {
                "text": error.example.text,
                "label": error.example.label,
                "predicted": error.predicted,
                "probability": round(error.probability, DIGITS),
                **{
                    name: np.round(getattr(evidence, name), DIGITS).tolist()
                    for name in ("gradient", "integrated", "left_out", "margin", "empty", "masked")
                },
                "rationales": [
                    [list(one.words), *np.round([one.without, one.alone], DIGITS), one.class_without, one.class_alone]
                    for one in evidence.rationales
                ],
            }
            for error, evidence in found[:ERRORS]
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=None) + "\n"
