"""A word's uses in words and numbers: the curves, the nearest sense, and the separation of the senses."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.control_word import Control
from demos.bert.embeddings.word_occurrences import Contrast, Use
from demos.bert.embeddings.word_senses import SenseScores
from demos.lessons.embeddings.word_senses.figure import context, use_name
from demos.templates import templates

TEXT = templates(__file__)
SHOWN_PAIRS = 120


def uses_summary(
    word: str,
    cosines: np.ndarray,
    static: np.ndarray,
    layer: int,
    averages: Contrast | None,
    uses: Sequence[Use],
    senses: Sequence[str],
    control: Control | None = None,
    chosen: bool = False,
) -> Markup:
    """The pictures in words at this layer, and the nearest sense of each use from the sentence bar.

    `control` is another word of the same sentences; `chosen` says that the sentences were chosen by their result.
    """
    rows, columns = np.triu_indices(len(uses), k=1)
    flat, pairs = static[rows, columns], cosines[layer, rows, columns]
    most, least = pairs.argmax(), pairs.argmin()
    return TEXT.said(
        word=word,
        layer=layer,
        static=flat,
        static_same=np.allclose(flat, flat[0], atol=5e-3),
        averages=averages,
        pairs=pairs,
        most=_pair(rows[most], columns[most], uses),
        least=_pair(rows[least], columns[least], uses),
        control=control,
        chosen=chosen,
        guesses=_guesses(cosines[layer], uses, senses),
    )


def _pair(i: int, j: int, uses: Sequence[Use]) -> str:
    return f"{use_name(i, uses[i])} and {use_name(j, uses[j])}"


def _guesses(cosine: np.ndarray, uses: Sequence[Use], senses: Sequence[str]) -> list[dict[str, object]]:
    """For each use of unknown sense the mean cosine with each sense's uses, the highest first."""
    groups = [[index for index, use in enumerate(uses) if use.sense == sense] for sense in range(len(senses))]
    if len(groups) < 2:
        return []
    return [
        {
            "use": use_name(index, use),
            "around": context(use, 40),
            "means": sorted(
                ((float(cosine[index, group].mean()), name) for group, name in zip(groups, senses, strict=True)),
                reverse=True,
            ),
        }
        for index, use in enumerate(uses)
        if use.sense is None
    ]


def uses_table(
    cosines: np.ndarray, static: np.ndarray, averages: Contrast | None, uses: Sequence[Use], senses: Sequence[str]
) -> Markup:
    """Every pair's cosine in the static table and at each layer, the averages first."""
    pairs = list(combinations(range(len(uses)), 2))
    return TEXT.uses(
        rows=[
            (use_name(index, use), "–" if use.sense is None else senses[use.sense], context(use, 400))
            for index, use in enumerate(uses)
        ],
        averages=averages,
        pairs=[(_pair(i, j, uses), [static[i, j], *cosines[:, i, j]]) for i, j in pairs[:SHOWN_PAIRS]],
        layers=len(cosines),
        shown=SHOWN_PAIRS,
        count=len(pairs),
    )


def ranked(scores: SenseScores) -> list[int]:
    """The words' indices, the best separated first: by the Rand index of the best layer, then by the neighbours."""
    best = scores.best
    return np.lexsort((-scores.neighbour[:, best], -scores.rand[:, best])).tolist()


def scores_summary(scores: SenseScores) -> Markup:
    """The best layer's averages against chance, in two sentences."""
    rand, neighbour = (values[:, scores.best].mean() for values in (scores.rand, scores.neighbour))
    return TEXT.scores(scores, rand, neighbour)


def words_html(scores: SenseScores) -> Markup:
    """Every word with a bar of its adjusted Rand index at the best layer, best first."""
    return TEXT.words(scores, ranked(scores))


def scores_table(scores: SenseScores) -> Markup:
    """Both scores, word by word and layer by layer."""
    tables = [
        ("Adjusted Rand index of k-means (chance: 0)", scores.rand, np.zeros(len(scores.words))),
        ("Nearest other use has the same sense (chance: last column)", scores.neighbour, scores.chance),
    ]
    return TEXT.scores_table(scores, ranked(scores), tables)
