"""Lesson: which vector is the sentence. Its parts are the files beside this one; here they are put in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from demos.bert.embeddings import cosine_matrix, embed, resolve_layer, sentences_of
from demos.bert.pooling import Choice
from demos.errors import UserError
from demos.lessons.embeddings import compare
from demos.page.lesson import Lesson, Page


def offer_endpoint(page: Page) -> None:
    """The API's `embeddings`."""
    services = page.services

    def embeddings(texts: str, pooling: str = "mean", layer: int = -1, model: str = "") -> dict[str, Any]:
        """One vector a sentence, with texts one a line (at most 64), and the cosine of every two.

        pooling is cls, mean, mean_no_special or max; layer counts as transformers' hidden_states do, negative ones
        from the end; an empty model means the default. Vectors are as pooled, not normalised.
        """
        sentences = sentences_of(texts) if isinstance(texts, str) else []
        if not sentences:
            raise UserError("There is no sentence in the text; write one a line.")
        loaded = services.loaded(model)
        choice = Choice(pooling, resolve_layer(layer, loaded.model.config.num_hidden_layers))
        (vectors,) = embed(services.runs, loaded, sentences, [choice])
        return {
            "sentences": sentences,
            "vectors": np.round(vectors.astype(np.float64), 7).tolist(),
            "cosine": np.round(cosine_matrix(vectors), 7).tolist(),
            "shape": list(vectors.shape),
        }

    page.endpoint(embeddings)


LESSON = Lesson(
    slug="embeddings",
    order=4,
    tab="Embeddings",
    question="Which vector is the sentence?",
    look="BERT hands back one vector a token, and a sentence needs one in all: the [CLS] token's, or an average? Of "
    "which layer? Here each answer is held against people's, and against what one wants to do with it.",
    build=offer_endpoint,
    parts=(compare.PART,),
)
