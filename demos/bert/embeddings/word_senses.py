"""Word senses from vectors alone: k-means and nearest neighbours on a word's uses, scored against its senses."""

import csv
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from demos.bert.embeddings.similarity import cosine_matrix, normalised
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.embeddings.word_occurrences import Use, find_word, static_vectors, word_states
from demos.bert.model.models import LoadedModel
from demos.files import read_asset

SEED = 0
STARTS = 10  # k-means restarts this often and keeps the tightest clusters
TIE = 1e-6  # float32 vectors this near in cosine are equally near


@dataclass(frozen=True)
class SenseUse:
    """One labelled sentence: which word it uses, in which sense."""

    word: str
    sense: str
    use: Use


def bundled_uses() -> list[SenseUse]:
    """The sentences of assets/data/senses.tsv, each with the place of its word."""
    reader = csv.DictReader(read_asset("data/senses.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        SenseUse(row["word"], row["sense"], Use(row["sentence"], *find_word(row["sentence"], row["word"])[0]))
        for row in reader
    ]


@dataclass(frozen=True)
class SenseScores:
    """A model's separation of senses: row 0 the static table, row 1 + l the hidden states of layer l.

    `rand`: the adjusted Rand index of k-means' clusters, 1 for the senses themselves, 0 on average for chance.
    `neighbour`: in how many uses the nearest other use has the same sense. Both float64 [words, L + 2].
    """

    words: tuple[str, ...]
    senses: tuple[int, ...]  # how many each word has
    uses: tuple[int, ...]
    rand: np.ndarray
    neighbour: np.ndarray
    chance: np.ndarray  # float64 [words]: what `neighbour` is where the neighbour is drawn blindly

    @property
    def best(self) -> int:
        """The row, 0..L + 1, with the highest average Rand index."""
        return int(self.rand.mean(axis=0).argmax())


def cluster(vectors: np.ndarray, count: int) -> np.ndarray:
    """k-means on the vectors' directions, so that near means a high cosine: [m, d] -> labels [m].

    Of fewer distinct vectors than `count` each is a cluster: equal vectors can't be separated.
    """
    units = normalised(vectors)
    # the same distances in at most m numbers instead of d: m is small, and k-means is then as quick as it can be
    turned = units @ np.linalg.svd(units, full_matrices=False)[2].T
    _, groups = np.unique(np.round(turned, 6), axis=0, return_inverse=True)
    if groups.max() + 1 <= count:
        return groups.ravel()
    return KMeans(count, n_init=STARTS, random_state=SEED).fit_predict(turned)


def rand_index(vectors: np.ndarray, senses: Sequence[str]) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985) of `cluster`'s labels and the senses; k is known."""
    return float(adjusted_rand_score(list(senses), cluster(vectors, len(set(senses)))))


def neighbour_accuracy(vectors: np.ndarray, senses: Sequence[str]) -> float:
    """In how many uses the other use of the highest cosine has the same sense; of equals each counts its share.

    Leave one out, one neighbour, as Wiedemann et al. 2019 disambiguate word senses.
    """
    cosines = cosine_matrix(vectors)
    np.fill_diagonal(cosines, -np.inf)
    names = np.array(list(senses))
    same = names[:, None] == names[None, :]
    nearest = cosines >= cosines.max(axis=1, keepdims=True) - TIE
    return float(((nearest & same).sum(axis=1) / nearest.sum(axis=1)).mean())


def blind_accuracy(senses: Sequence[str]) -> float:
    """`neighbour_accuracy` where any other use is as near: what chance gives, and vectors that are all the same."""
    names = list(senses)
    return float(np.mean([(names.count(name) - 1) / (len(names) - 1) for name in names]))


def score_senses(loaded: LoadedModel, labelled: Sequence[SenseUse]) -> Generator[Encoded, None, SenseScores]:
    """Score every word by every layer; yields how many sentences are done. Raises UserError as `word_states` does."""
    uses = [example.use for example in labelled]
    states = yield from word_states(loaded, uses)  # [m, L + 1, d]
    steps = [static_vectors(loaded, uses), *states.swapaxes(0, 1)]  # L + 2 of [m, d]; ALBERT's first are narrower
    words = tuple(dict.fromkeys(example.word for example in labelled))
    rand = np.zeros((len(words), len(steps)))
    neighbour, chance, counts, sizes = np.zeros_like(rand), np.zeros(len(words)), [], []
    for row, word in enumerate(words):
        mine = [index for index, example in enumerate(labelled) if example.word == word]
        senses = [labelled[index].sense for index in mine]
        counts.append(len(set(senses)))
        sizes.append(len(mine))
        chance[row] = blind_accuracy(senses)
        for step, vectors in enumerate(steps):
            rand[row, step] = rand_index(vectors[mine], senses)
            neighbour[row, step] = neighbour_accuracy(vectors[mine], senses)
        if row % 5 == 4:
            yield Encoded(len(uses), len(uses))
    return SenseScores(words, tuple(counts), tuple(sizes), rand, neighbour, chance)
