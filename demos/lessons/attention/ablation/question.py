"""The question about a model without heads, answered with the layer whose heads matter most."""

from __future__ import annotations

import numpy as np

from demos.bert.attention.ablation import MAX_PASS_TOKENS, sentence_vectors
from demos.bert.embeddings.similarity import cosine
from demos.bert.model.encoding import encode
from demos.counting import counted
from demos.errors import UserError
from demos.page.questions import Answer
from demos.page.services import Sentence, Services


def answer(services: Services, sentence: Sentence) -> Answer:
    """The layers without whose heads the sentence vector changes most and least. UserError for a long input."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    if len(encoding) > MAX_PASS_TOKENS:
        raise UserError(f"The input has {len(encoding)} tokens; this is computed for up to {MAX_PASS_TOKENS}.")
    layers, heads = loaded.spec.num_layers, loaded.spec.num_heads
    off = [frozenset((layer, head) for head in range(heads)) for layer in range(layers)]
    vectors = sentence_vectors(loaded, [encoding] * (layers + 1), [frozenset(), *off])  # [1 + L, d]
    alike = cosine(vectors[1:], np.broadcast_to(vectors[0], vectors[1:].shape))  # [L]
    most, least = int(alike.argmin()), int(alike.argmax())
    facts = {"layer": counted(most), "cosine": alike[most], "least": counted(least), "closest": alike[least]}
    return Answer(facts=facts)
