"""Does a vector agree with people: Spearman's correlation of cosine and rating over sentence pairs."""

import hashlib
import math
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from demos.bert.embeddings.pooling import Choice, choices_of, dimension
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded, VectorCache, encode_sentences
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError

MIN_PAIRS = 5  # with fewer an interval says nothing
MAX_SHARED_FLOATS = 24 * 2**20  # 96 MB: more vectors than these are made, compared and dropped part by part
RESAMPLES = 500
SAME = 1e-6  # cosines that differ by less are one and the same: there is no order in them
Z95 = 1.959964


@dataclass(frozen=True)
class Pair:
    """Two sentences and their similarity as rated by people; a `kind` says what makes the pair interesting."""

    first: str
    second: str
    score: float
    kind: str = ""


@dataclass(frozen=True)
class Correlation:
    """The agreement of numbers with ratings:

    Spearman's rho, its 95% interval and Pearson's r; nan where all are equal.
    """

    spearman: float
    low: float
    high: float
    pearson: float


@dataclass(frozen=True)
class Gap:
    """The difference of one choice's rho from another's on the same pairs, with a 95% interval."""

    difference: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves no room for "no difference"."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Agreement:
    """Every choice of a model compared with the same ratings."""

    pairs: tuple[Pair, ...]
    choices: tuple[Choice, ...]
    cosines: np.ndarray  # float32 [choices, pairs], read-only
    correlations: tuple[Correlation, ...]  # one a choice
    overlap: Correlation  # of the share of words in common, without any model
    behind: tuple[tuple[int, Gap], ...] = ()  # a layer and how far [CLS] is behind the mean there

    @property
    def scores(self) -> np.ndarray:
        """The ratings, [pairs]."""
        return scores_of(self.pairs)

    @property
    def best(self) -> int:
        """The choice with the highest rho."""
        return int(np.nanargmax([correlation.spearman for correlation in self.correlations]))


def sides_of(pairs: Sequence[Pair]) -> tuple[list[str], list[int], list[int]]:
    """(the pairs' sentences, each once, the place of each pair's first among them, that of its second)."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    place = {text: index for index, text in enumerate(texts)}
    return texts, [place[pair.first] for pair in pairs], [place[pair.second] for pair in pairs]


def scores_of(pairs: Sequence[Pair]) -> np.ndarray:
    """The ratings, float64 [pairs]."""
    return np.array([pair.score for pair in pairs], dtype=np.float64)


def pearson(values: np.ndarray, ratings: np.ndarray) -> np.ndarray:
    """Pearson's r over the last axis: [..., n] and [n] or [..., n] -> [...]; nan where one side does not vary."""
    x = values - values.mean(axis=-1, keepdims=True)
    y = ratings - ratings.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    flat = (np.ptp(values, axis=-1) < SAME) | (np.ptp(ratings, axis=-1) == 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(flat, np.nan, (x * y).sum(axis=-1) / spread)


def spearman(values: np.ndarray, ratings: np.ndarray) -> np.ndarray:
    """Spearman's rho (1904) over the last axis: Pearson's r of the ranks, ties sharing their average rank."""
    values = np.asarray(values, dtype=np.float64)
    flat = np.ptp(values, axis=-1) < SAME
    return np.where(flat, np.nan, pearson(rankdata(values, axis=-1), rankdata(ratings, axis=-1)))


def interval(rho: float, n: int) -> tuple[float, float]:
    """A 95% interval of rho over n pairs: Fisher's z, its standard error for ranks as Bonett and Wright (2000)."""
    if n <= 3 or not abs(rho) < 1:
        return (rho, rho)
    error = math.sqrt((1 + rho * rho / 2) / (n - 3))
    z = math.atanh(rho)
    return math.tanh(z - Z95 * error), math.tanh(z + Z95 * error)


def correlation(values: np.ndarray, ratings: np.ndarray) -> Correlation:
    """All of it for one row of numbers [n]."""
    rho = float(spearman(values, ratings))
    return Correlation(rho, *interval(rho, len(ratings)), float(pearson(np.asarray(values, np.float64), ratings)))


def word_overlap(pair: Pair) -> float:
    """The share of different words that both sentences have, 0 to 1 (Jaccard 1901): a judge that knows no meaning."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (pair.first, pair.second))
    return len(first & second) / len(first | second) if first | second else 0.0


def gap_between(first: np.ndarray, second: np.ndarray, ratings: np.ndarray) -> Gap:
    """rho of the numbers `first` [n] minus that of `second` [n], with a bootstrap interval (Efron 1979).

    Pairs are resampled RESAMPLES times from one seed, the same ones for both. All nan where one has no rho.
    """
    difference = float(spearman(first, ratings) - spearman(second, ratings))
    if math.isnan(difference):
        return Gap(math.nan, math.nan, math.nan)
    drawn = np.random.default_rng(0).integers(len(ratings), size=(RESAMPLES, len(ratings)))
    differences = spearman(first[drawn], ratings[drawn]) - spearman(second[drawn], ratings[drawn])
    low, high = np.nanpercentile(differences, [2.5, 97.5])
    return Gap(difference, float(low), float(high))


def mean_against_cls(
    choices: Sequence[Choice], cosines: np.ndarray, correlations: Sequence[Correlation], scores: np.ndarray
) -> tuple[tuple[int, Gap], ...]:
    """(layer, the mean's rho minus [CLS]'s) for the last layer, and for the one where [CLS] is farthest behind."""
    at = {choice: row for row, choice in enumerate(choices)}
    layers = [choice.layer for choice in choices if choice.pooling == "cls" and isinstance(choice.layer, int)]
    both = {layer: (at[Choice("mean", layer)], at[Choice("cls", layer)]) for layer in layers}
    behind = {layer: correlations[mean].spearman - correlations[cls].spearman for layer, (mean, cls) in both.items()}
    defined = {layer: value for layer, value in behind.items() if not math.isnan(value)}
    shown = [max(layers)] if max(layers) in defined else []
    if defined and max(defined.values()) > 0:  # else [CLS] is behind nowhere
        shown.append(max(defined, key=lambda layer: defined[layer]))
    return tuple(
        (layer, gap_between(cosines[both[layer][0]], cosines[both[layer][1]], scores)) for layer in dict.fromkeys(shown)
    )


def misjudged(cosines: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(share of pairs that the model finds less alike, the same for people), each 0 to 1 [n], ties halfway."""
    n = max(1, len(scores) - 1)
    return (rankdata(cosines) - 1) / n, (rankdata(scores) - 1) / n


def checked(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs. Raises UserError where they are too few, or all rated alike."""
    if len(pairs) < MIN_PAIRS:
        there_are = "there is 1" if len(pairs) == 1 else f"there are {len(pairs)}"
        raise UserError(f"A correlation needs at least {MIN_PAIRS} pairs; {there_are}.")
    if len({pair.score for pair in pairs}) == 1:
        raise UserError(
            f"All {len(pairs):,} pairs have the rating {pairs[0].score:g}, so there is no order to compare with."
        )
    return tuple(pairs)


def agreement_steps(
    cache: VectorCache, loaded: LoadedModel, pairs: Sequence[Pair]
) -> Generator[Encoded, None, Agreement]:
    """Every choice of `choices_of` against the ratings; yields how many sentences are encoded so far.

    Few pairs come from the shared vectors; many are encoded, compared and dropped part by part, so that memory
    stays bounded. Raises UserError as `checked` does, and where the model finds all pairs equally alike.
    """
    pairs, choices, config = checked(pairs), choices_of(loaded), loaded.model.config
    floats = sum(dimension(choice, config.num_hidden_layers, config.hidden_size) for choice in choices)
    total = len(sides_of(pairs)[0])
    shared = total * floats <= MAX_SHARED_FLOATS
    parts = [list(range(len(pairs)))]
    if not shared:
        order = sorted(parts[0], key=lambda row: len(pairs[row].first) + len(pairs[row].second))
        size = max(8, MAX_SHARED_FLOATS // (2 * floats))
        parts = [order[start : start + size] for start in range(0, len(order), size)]
    cosines = np.empty((len(choices), len(pairs)), dtype=np.float32)
    done = 0
    for rows in parts:
        texts, first, second = sides_of([pairs[row] for row in rows])
        steps = cache.steps(loaded, texts, choices) if shared else encode_sentences(loaded, texts, choices)
        for index, vectors in enumerate((yield from _offset(steps, done, total))):
            cosines[index, rows] = cosine(vectors[first], vectors[second])
        done += len(texts)
    cosines.flags.writeable = False
    scores = scores_of(pairs)
    results = tuple(correlation(row, scores) for row in cosines)
    if all(math.isnan(correlation.spearman) for correlation in results):
        raise UserError("All these pairs have the same cosine, so there is no order to compare.")
    overlap = correlation(np.array([word_overlap(pair) for pair in pairs]), scores)
    behind = mean_against_cls(choices, cosines, results, scores)
    return Agreement(pairs, tuple(choices), cosines, results, overlap, behind)


def _offset(
    steps: Generator[Encoded, None, list[np.ndarray]], done: int, total: int
) -> Generator[Encoded, None, list[np.ndarray]]:
    """The steps of one part, counted as steps of the whole."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield Encoded(min(total, done + step.done), total)


def shared_steps(
    results: OnceCache[Encoded, Agreement], cache: VectorCache, loaded: LoadedModel, pairs: Sequence[Pair]
) -> Generator[Encoded, None, Agreement]:
    """As `agreement_steps`, computed once a model and data; the kept result holds cosines and no vectors."""
    data = repr([loaded.spec.key, *((pair.first, pair.second, pair.score, pair.kind) for pair in pairs)])
    key = hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()
    waiting = Encoded(0, len(sides_of(pairs)[0]))
    return (yield from results.steps(key, lambda: agreement_steps(cache, loaded, pairs), waiting))
