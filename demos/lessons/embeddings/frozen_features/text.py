"""Frozen features in words: the recipe with its numbers, the sentences on the bars, the tables."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.pooling import Choice
from demos.figures.cosine_heatmap import short
from demos.figures.scores_text import chances_html
from demos.lessons.embeddings.frozen_features.figure import Bar, feature_name
from demos.templates import templates
from demos.training.data.labelled_sentences import OWN_SPLIT, Labelled, Split
from demos.training.data.sst2 import PUBLISHED
from demos.training.frozen_classifier import Fit, chosen
from demos.training.metrics import majority

TEXT = templates(__file__)
SHOWN_NUMBERS = 4
SHOWN_CLASSES = 6


def recipe_html(sentence: str, weights: int, vector: np.ndarray, fit: Fit, chances: Mapping[str, float]) -> Markup:
    """The sentence bar's own sentence through the recipe: a frozen BERT, its vector [D], the classifier, the answer."""
    return TEXT.recipe(
        sentence=short(sentence, 90),
        weights=weights,
        numbers=vector[:SHOWN_NUMBERS],
        width=len(vector),
        # Of two classes scikit-learn learns one row of weights: the other's is its opposite.
        learned=fit.pipeline[-1].coef_.size + fit.pipeline[-1].intercept_.size,
        classes=len(chances),
        answer=Markup(chances_html(chances, list(chances), sentence)),
    )


def data_html(data: Labelled, split: Split) -> Markup:
    """The numbers of sentences for training and held out, and the kind of split."""
    return TEXT.data(
        train=len(split.train),
        test=len(split.test),
        seed=None if split.key == OWN_SPLIT else split.key,
        count=len(data.labels),
        labels=[short(label, 24) for label in data.labels[:SHOWN_CLASSES]],
        notes=data.notes,
    )


def bars_html(bars: Sequence[Bar], picked: int, held_out: int, guide: bool) -> Markup:
    """The bar at `picked` compared with guessing (the first) and words only (the second); the guide's numbers."""
    guess, words, bar = bars[0], bars[1], bars[picked]
    low, high = bar.interval or (bar.accuracy, bar.accuracy)
    return TEXT.bars(bar, guess, words, low, high, held_out, guide, PUBLISHED)


def grid_html(fits: Mapping[Choice, Fit], total: int, deepest: int, held_out: int) -> Markup:
    """The choice of cross-validation and its accuracy, compared with the best choice on the held-out sentences."""
    best = chosen(fits)
    lucky = max(fits, key=lambda choice: fits[choice].scores.accuracy)
    names = feature_name(best, deepest), feature_name(lucky, deepest)
    return TEXT.grid(fits[best], names[0], fits[lucky], names[1], len(fits), total, held_out)


def numbers_html(
    named: Sequence[tuple[str, Fit]], fits: Mapping[Choice, Fit], data: Labelled, split: Split, deepest: int
) -> Markup:
    """Two tables: what the bars show, and every choice that was fitted, the best cross-validated first."""
    truth = data.targets[split.test].tolist()
    label, share = majority(data.targets[split.train].tolist(), truth, len(data.labels))
    ordered = sorted(fits, key=lambda choice: -fits[choice].cross_validated)

    def rows(pairs: Iterable[tuple[str, Fit]]) -> list[tuple[str, Fit, float]]:
        return [(name, fit, float(np.std(fit.folds))) for name, fit in pairs]

    return TEXT.numbers(
        named=rows(named),
        fitted=rows((feature_name(choice, deepest), fits[choice]) for choice in ordered),
        data=data,
        train=len(split.train),
        test=len(split.test),
        label=short(data.labels[label], 24),
        share=share,
    )
