"""The question about the position vector that is most similar to that of a token's position."""

from __future__ import annotations

import numpy as np

from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.input import embedding_tables
from demos.bert.model.encoding import encode
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick

NEAR = 2  # positions
ALIKE = 1e-3  # cosines that differ by less are the same


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The key: near, far, or none if all cosines are equal."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    table, at = embedding_tables(loaded.model).positions, pick(encoding, token)
    alike = cosine(table, np.broadcast_to(table[at], table.shape))
    middle = (at + len(table) // 2) % len(table)
    others = np.delete(alike, at)
    alike[at] = -np.inf
    nearest = int(alike.argmax())
    key = "none" if np.ptp(others) < ALIKE else "near" if abs(nearest - at) <= NEAR else "far"
    facts = {"nearest": nearest, "cosine": alike[nearest], "middle": middle, "distant": alike[middle]}
    return Answer(keys=frozenset({key}), facts=facts)
