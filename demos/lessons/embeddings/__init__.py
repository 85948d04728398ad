"""Lesson: sentence vectors, by pooling and layer. Its parts are the folders beside this file."""

import numpy as np

from demos.bert.embeddings.pooling import COMBINED, Choice
from demos.bert.embeddings.similarity import beyond_library, check_tokens, cosine_matrix, sentences_of
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.layer_numbers import layer_index
from demos.errors import UserError
from demos.files import Json
from demos.page.lesson import Lesson, Page
from demos.page.parts import parts_of
from demos.page.past_runs import give_back


def build(page: Page) -> None:
    """Above the parts: the model that this reader has fine-tuned is given back. Also the API's endpoint."""
    give_back(page)
    offer_endpoint(page)


def offer_endpoint(page: Page) -> None:
    """The API's `embeddings`."""
    services = page.services

    def embeddings(
        texts: str | list[str],
        pooling: str = "mean",
        layer: int = -1,
        model: str = "",
        combine: str = "",
        max_tokens: int = MAX_TOKENS,
    ) -> Json:
        """One vector a sentence, with texts one a line or as a list (at most 64), and the cosine of every two.

        pooling is cls, mean, mean_no_special, max, or pooler where the model has a trained one; layer counts as
        transformers' hidden_states do, negative ones from the end; an empty model means the default. combine puts
        several layers in the place of one: sum_all, sum_last_four or concat_last_four. Vectors are as pooled, not
        normalized. A longer sentence is cut to max_tokens, 3 to 512. sentence-transformers uses the first 256 tokens
        with the bundled model; "notice" says where that makes a difference.
        """
        if not isinstance(texts, str) and not (
            isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        ):
            raise UserError("texts must be text, or a list of texts.")
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or not 3 <= max_tokens <= MAX_TOKENS:
            raise UserError(f"max_tokens must be a whole number from 3 to {MAX_TOKENS}.")
        sentences = sentences_of(texts)
        if not sentences:
            raise UserError("The text contains no sentence; write one sentence per line.")
        loaded = services.loaded(model)
        if combine and combine not in COMBINED:
            raise UserError(f"There is no combination {str(combine)[:40]!r} here; choose one of {', '.join(COMBINED)}.")
        deepest = loaded.model.config.num_hidden_layers
        there_are = f"the model has 0 (the embedding output) to {deepest}"
        choice = Choice(pooling, combine or layer_index(layer, deepest + 1, there_are))
        check_tokens(loaded, sentences)
        (vectors,) = services.vectors.get(loaded, sentences, [choice], max_tokens)
        longer, limit = beyond_library(loaded, sentences), loaded.spec.max_seq_length
        notice = f"sentence-transformers uses only the first {limit} tokens of a text; texts that are longer: {longer}."
        result = {
            "sentences": sentences,
            "vectors": np.round(vectors.astype(np.float64), 7).tolist(),
            "cosine": np.round(cosine_matrix(vectors), 7).tolist(),
            "shape": list(vectors.shape),
        }
        return result | ({"notice": notice} if longer and max_tokens != limit else {})

    page.endpoint(embeddings)


LESSON = Lesson(
    slug="embeddings",
    order=5,
    tab="Embeddings",
    question="Which vector represents a sentence?",
    look="BERT computes one vector per token, but many tasks need one vector per sentence. Should it be the vector of "
    "[CLS] or an average, and from which layer? Here, each choice is compared with human ratings and tested on "
    "tasks.",
    build=build,
    parts=parts_of(__name__),
)
