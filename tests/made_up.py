"""A made-up input and its run, for figures that need no model."""

from __future__ import annotations

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.model.run import Run

GENERATOR = np.random.default_rng(7)


def encoding_of(tokens: list[str], b: int | None = None, text: str = "a") -> Encoding:
    n = len(tokens)
    special = [int(token in {"[CLS]", "[SEP]"}) for token in tokens]
    return Encoding(
        text=text,
        text_pair="b" if b else "",
        tokens=tuple(tokens),
        input_ids=tuple(range(n)),
        token_type_ids=tuple(int(b is not None and i >= b) for i in range(n)),
        word_ids=tuple(None if mark else i for i, mark in enumerate(special)),
        sequence_ids=tuple(None if mark else 0 for mark in special),
        offsets=tuple((i, i + 1) for i in range(n)),
        special_tokens_mask=tuple(special),
    )


def run_of(layers: int, heads: int, n: int, text: str = "a") -> Run:
    scores = np.exp(GENERATOR.normal(0, 3, (layers, heads, n, n))).astype(np.float32)
    tokens = ["[CLS]", *[f"word{i}" for i in range(n - 2)], "[SEP]"]
    attentions = scores / scores.sum(-1, keepdims=True)
    return Run("m", encoding_of(tokens, text=text), np.zeros((layers + 1, n, 4), np.float32), attentions)
