"""Late interaction: a query against sentences token by token, as ColBERT compares them (Khattab and Zaharia 2020)."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.attention.matrix_labels import Labels
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import MAX_TOKENS, encode, has_letters
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

BATCH = 32  # sentences a pass, of similar lengths


@dataclass(frozen=True)
class TokenVectors:
    """A text as one vector a token: those of its words' pieces; special tokens and punctuation are left out."""

    labels: Labels  # n tokens
    units: np.ndarray  # <float32>[n, d]: last hidden states, each divided by its length
    mean: np.ndarray  # <float32>[d]: of all last hidden states, special tokens and punctuation too; not divided

    def __len__(self) -> int:
        return len(self.labels)


def token_vectors(loaded: LoadedModel, texts: Sequence[str]) -> list[TokenVectors]:
    """Each text's token vectors; a text with punctuation alone has none: [0, d]."""
    return drained(token_vector_steps(loaded, texts))


def token_vector_steps(
    loaded: LoadedModel, texts: Sequence[str], most_tokens: int = MAX_TOKENS
) -> Generator[Encoded, None, list[TokenVectors]]:
    """As `token_vectors`, of texts cut to `most_tokens`; yields after each batch."""
    encodings = [encode(loaded.tokenizer, text, max_length=most_tokens) for text in texts]
    by_length = sorted(range(len(texts)), key=lambda at: len(encodings[at]))
    vectors: dict[int, TokenVectors] = {}
    for start in range(0, len(by_length), BATCH):
        places = by_length[start : start + BATCH]
        with torch.inference_mode():
            states = loaded.model(**model_inputs(loaded, [encodings[at] for at in places])).last_hidden_state.float()
            units = torch.nn.functional.normalize(states, dim=-1).numpy()
        for row, at in enumerate(places):
            labels = Labels.of_tokens(encodings[at])
            selected = [
                index for index, name in enumerate(labels.names) if not labels.special[index] and has_letters(name)
            ]
            mean = states[row, : len(labels)].mean(0).numpy()
            vectors[at] = TokenVectors(labels.take(selected), units[row, selected], mean)
        yield Encoded(len(vectors), len(texts))
    return [vectors[at] for at in range(len(texts))]


@dataclass(frozen=True)
class Interaction:
    """A query of q tokens against a sentence of n tokens."""

    cosines: np.ndarray  # [q, n]
    best: np.ndarray  # <int>[q]: the sentence's token that each of the query's is most similar to
    score: float  # MaxSim: the sum over the query's tokens of their largest cosine; at most q


def interaction(query: TokenVectors, sentence: TokenVectors) -> Interaction:
    """MaxSim, Khattab and Zaharia 2020, equation 3. Raises UserError where one of the two has no word."""
    if not len(query) or not len(sentence):
        raise UserError("One of the two texts has no word.")
    cosines = query.units @ sentence.units.T
    best = cosines.argmax(axis=1)
    return Interaction(cosines, best, float(cosines.max(axis=1).sum()))


def max_sims(queries: Sequence[TokenVectors], sentences: Sequence[TokenVectors]) -> np.ndarray:
    """The MaxSim of every query with every sentence: [queries, sentences].

    A sentence without a word has 0 for every query. Raises UserError where a query has no word.
    """
    if not all(map(len, queries)):
        raise UserError("The query has no word.")
    filled = [at for at, sentence in enumerate(sentences) if len(sentence)]
    scores = np.zeros((len(queries), len(sentences)))
    if not filled:
        return scores
    words = np.concatenate([sentences[at].units for at in filled])  # [N, d]
    begins = np.cumsum([0, *(len(sentences[at]) for at in filled[:-1])])
    for row, query in enumerate(queries):
        largest = np.maximum.reduceat(query.units @ words.T, begins, axis=1)  # [q, sentences]
        scores[row, filled] = largest.sum(axis=0)
    return scores
