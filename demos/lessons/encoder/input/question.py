"""The question about two occurrences of a word, answered with the lengths of the input's three vectors."""

from __future__ import annotations

import numpy as np

from demos.bert.encoder.input import add_up, embedding_tables
from demos.bert.model.encoding import encode
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The lengths of the three vectors of one token; a model without segments has a zero there."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    ledger, at = add_up(embedding_tables(loaded.model), encoding), pick(encoding, token)
    vectors = {"word": ledger.word, "position": ledger.position, "segment": ledger.segment}
    lengths = {name: 0.0 if rows is None else float(np.linalg.norm(rows[at])) for name, rows in vectors.items()}
    return Answer(facts={"token": at, "piece": encoding.tokens[at], **lengths})
