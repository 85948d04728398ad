"""Agreement with people in words: the best choice, its worst errors, and all the numbers."""

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.agreement import Agreement
from demos.bert.embeddings.pooling import Choice, dimension
from demos.figures.cosine_heatmap import NEARLY_SAME, choice_name
from demos.lessons.embeddings.agreement.figure import choice_row
from demos.templates import templates

TEXT = templates(__file__)


def said_html(agreement: Agreement, deepest: int, tuned: str, ours: bool, overlap: bool) -> Markup:
    """The best choice, how far [CLS] is behind the mean, and whose ratings and which model one is looking at.

    `tuned` says what this model was trained for; `ours` that the pairs are the project's own; `overlap` that this
    model's training data may hold sentences of STS-B.
    """
    lowest = {
        layer: agreement.cosines[choice_row(agreement.choices, Choice("cls", layer))].min()
        for layer, _ in agreement.behind
    }
    return TEXT.said(
        agreement=agreement,
        best=agreement.correlations[agreement.best],
        name=choice_name(agreement.choices[agreement.best], deepest),
        deepest=deepest,
        # where a layer's [CLS] are all but one vector
        same=[(layer, np.floor(low * 1e3) / 1e3) for layer, low in lowest.items() if low >= NEARLY_SAME],
        tuned=tuned,
        ours=ours,
        overlap=overlap,
    )


def misjudged_html(
    agreement: Agreement, row: int, marked: Sequence[int], model: np.ndarray, people: np.ndarray
) -> Markup | str:
    """The pairs whose place is farthest off, numbered as in the scatter; empty where there is no order.

    `model` and `people` [pairs] are each pair's place among all, 0 (least alike) to 1.
    """
    if math.isnan(agreement.correlations[row].spearman):
        return ""
    cosines = agreement.cosines[row]
    return TEXT.misjudged([(agreement.pairs[at], model[at] > people[at], cosines[at]) for at in marked])


def numbers_html(agreement: Agreement, row: int, deepest: int, width: int) -> Markup:
    """Two tables: every choice's correlations, the best first, and the picked choice's cosines kind by kind."""
    order = np.argsort(
        [-np.nan_to_num(correlation.spearman, nan=-2) for correlation in agreement.correlations], kind="stable"
    )
    choices = [(agreement.choices[at], agreement.correlations[at]) for at in order]
    kinds = np.array([pair.kind for pair in agreement.pairs])
    scores, cosines = agreement.scores, agreement.cosines[row]
    means = [
        (scores[kinds == kind].mean(), kind, (kinds == kind).sum(), cosines[kinds == kind].mean())
        for kind in sorted(set(kinds.tolist()) - {""})
    ]
    return TEXT.numbers(
        choices=[
            (choice_name(choice, deepest), dimension(choice, deepest, width), correlation)
            for choice, correlation in choices
        ],
        overlap=agreement.overlap,
        count=len(agreement.pairs),
        kinds=sorted(means, reverse=True),
        name=choice_name(agreement.choices[row], deepest),
    )
