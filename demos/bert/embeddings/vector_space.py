"""A model's vectors of many sentences, layer by layer: cosines of strangers, dimensions, norms."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.anisotropy import contributions, dominating, stranger_cosines
from demos.bert.embeddings.vector_cache import BATCH_TOKENS, Encoded
from demos.bert.model.batches.packing import all_states
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

WORDS, MEAN, CLS = "words", "mean", "cls"
MOST_TOKENS = 1_000  # as many as Ethayarajh 2019 samples; all layers of BERT large then take 100 MB for a moment
EDGES = np.linspace(-1, 1, 101)  # of the histograms' bins
QUANTILES = (0.05, 0.5, 0.95)
TOP = 3


@dataclass(frozen=True)
class Cloud:
    """One kind of vector on every layer: n rows a layer, L + 1 layers, width d."""

    contributions: np.ndarray  # <float64>[L + 1, d]: each dimension's part of the mean cosine of strangers
    trimmed: np.ndarray  # <float64>[L + 1]: that mean cosine with its TOP dimensions taken out
    mean: np.ndarray  # <float64>[L + 1, d]: the mean vector
    shares: np.ndarray  # <float64>[L + 1, bins]: the share of pairs of strangers in each bin between EDGES
    norms: np.ndarray  # <float64>[L + 1, 3]: the QUANTILES of the rows' lengths

    @property
    def anisotropy(self) -> np.ndarray:
        """<float64>[L + 1]: the mean cosine of strangers."""
        return self.contributions.sum(axis=1)


@dataclass(frozen=True)
class Space:
    """The measurements of one model."""

    sentences: int
    tokens: int  # words' tokens that were drawn, the same on every layer
    clouds: dict[str, Cloud]  # WORDS, MEAN, CLS
    sep: np.ndarray  # <float64>[L + 1, 3]: the QUANTILES of the [SEP] vectors' lengths

    @property
    def num_layers(self) -> int:
        return len(self.sep) - 1

    @property
    def width(self) -> int:
        return self.clouds[WORDS].mean.shape[1]


def draw_tokens(lengths: Sequence[int], most: int, seed: int) -> list[np.ndarray]:
    """For each sentence of that many tokens, which of them are drawn, [CLS] and [SEP] never: at most `most` in all."""
    places = [(row, at) for row, length in enumerate(lengths) for at in range(1, length - 1)]
    chosen = np.sort(np.random.default_rng(seed).permutation(len(places))[:most])
    drawn: list[list[int]] = [[] for _ in lengths]
    for index in chosen:
        row, at = places[index]
        drawn[row].append(at)
    return [np.array(rows, dtype=np.int64) for rows in drawn]


def measure(
    loaded: LoadedModel, sentences: Sequence[str], seed: int = 0, most: int = MOST_TOKENS
) -> Generator[Encoded, None, Space]:
    """Encode the sentences, with a yield after each batch; the same words' tokens are drawn on every layer.

    Raises UserError for fewer than two sentences that hold a word.
    """
    encodings = [encoding for encoding in (encode(loaded.tokenizer, text) for text in sentences) if len(encoding) > 2]
    if len(encodings) < 2:
        raise UserError("At least two sentences with a word in each are needed.")
    drawn = draw_tokens([len(encoding) for encoding in encodings], most, seed)
    starts = np.cumsum([0, *map(len, drawn)])
    config = loaded.model.config
    layers, width, m = config.num_hidden_layers + 1, config.hidden_size, len(encodings)
    words = np.empty((layers, starts[-1], width), dtype=np.float32)
    cls, mean = (np.empty((layers, m, width), dtype=np.float32) for _ in range(2))
    sep = np.empty((layers, m), dtype=np.float64)
    done = 0
    for rows in padded_batches([len(encoding) for encoding in encodings], BATCH_TOKENS):
        batch = all_states(loaded.model, [encodings[row].input_ids for row in rows])
        for row, states in zip(rows, batch, strict=True):  # [L + 1, n, d]
            words[:, starts[row] : starts[row + 1]] = states[:, drawn[row]]
            cls[:, row], mean[:, row] = states[:, 0], states.mean(axis=1)
            sep[:, row] = np.linalg.norm(states[:, -1], axis=1)
        done += len(rows)
        yield Encoded(done, m)
    groups = np.repeat(np.arange(m), [len(places) for places in drawn])
    clouds = {WORDS: cloud_of(words, groups), MEAN: cloud_of(mean), CLS: cloud_of(cls)}
    return Space(m, int(starts[-1]), clouds, np.quantile(sep, QUANTILES, axis=1).T)


def cloud_of(states: np.ndarray, groups: np.ndarray | None = None) -> Cloud:
    """One kind's vectors [L + 1, n, d], measured; rows of one group [n] are not compared with each other."""
    parts = np.stack([contributions(rows, groups) for rows in states])
    trimmed = [
        contributions(np.delete(rows, dominating(part, TOP), axis=1), groups).sum()
        for rows, part in zip(states, parts, strict=True)
    ]
    counts = np.stack([np.histogram(stranger_cosines(rows, groups), EDGES)[0] for rows in states])
    return Cloud(
        contributions=parts,
        trimmed=np.array(trimmed),
        mean=states.mean(axis=1, dtype=np.float64),
        shares=counts / counts.sum(axis=1, keepdims=True),
        norms=np.quantile(np.linalg.norm(states, axis=2), QUANTILES, axis=1).T,
    )
