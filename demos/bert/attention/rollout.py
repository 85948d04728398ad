"""Many heads as one matrix: mean and max, attention rollout, word level, hidden special tokens, a pair's quarters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from demos.bert.attention.matrix_labels import Labels, word_starts
from demos.bert.model.run import Run
from demos.errors import UserError

What = Literal["head", "heads-mean", "heads-max", "layers-mean", "layers-max", "all-mean", "all-max", "rollout"]
Specials = Literal["show", "hide", "renormalise"]
Quarter = Literal["all", "A-A", "A-B", "B-A", "B-B"]


@dataclass(frozen=True)
class Recipe:
    """What is done to a run's attentions, in this order: made one, put into words, specials hidden, a quarter cut."""

    what: What = "rollout"
    layer: int = 0  # of the heads; for a rollout the last layer that counts
    head: int = 0
    residual: float = 0.5  # a rollout's share of what stays where it is
    words: bool = False
    specials: Specials = "show"
    quarter: Quarter = "all"


@dataclass(frozen=True)
class Aggregate:
    """What a recipe made of a run: values <float64>[n, m], a row a query, and the names of both sides."""

    values: np.ndarray
    rows: Labels
    columns: Labels

    @property
    def sums(self) -> np.ndarray:
        """Each row's sum: <float64>[n]"""
        return self.values.sum(axis=1)


def aggregate(run: Run, recipe: Recipe) -> Aggregate:
    """Apply `recipe`. Raises UserError where nothing is left to show."""
    weights = joined_heads(run.attentions, recipe)
    labels = Labels.of_words(run.encoding) if recipe.words else Labels.of_tokens(run.encoding)
    if recipe.words:
        weights = to_words(weights, word_starts(run.encoding))
    if recipe.specials != "show":
        words = [index for index, special in enumerate(labels.special) if not special]
        weights, labels = weights[np.ix_(words, words)], labels.take(words)
        if recipe.specials == "renormalise":
            weights = renormalise(weights)
    rows, columns = quarter_of(labels, recipe.quarter)
    if not rows or not columns:
        raise UserError(
            "Without the special tokens there is nothing to show; write a word, or show the special tokens."
        )
    return Aggregate(weights[np.ix_(rows, columns)], labels.take(rows), labels.take(columns))


def joined_heads(attentions: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The recipe's one matrix from attentions [L, H, n, n]: <float64>[n, n], a row a query.

    Rows sum to 1 but for a maximum, whose rows sum to 1 or more.
    """
    if recipe.what == "rollout":
        return rollout(attentions, recipe.layer, recipe.residual)
    if recipe.what == "head":
        return attentions[recipe.layer, recipe.head].astype(np.float64)
    over, how = recipe.what.split("-")
    several = {
        "heads": attentions[recipe.layer],  # [H, n, n]
        "layers": attentions[:, recipe.head],  # [L, n, n]
        "all": attentions.reshape(-1, *attentions.shape[2:]),  # [L * H, n, n]
    }[over]
    return several.max(axis=0).astype(np.float64) if how == "max" else several.mean(axis=0, dtype=np.float64)


def rollout(attentions: np.ndarray, up_to: int, residual: float = 0.5) -> np.ndarray:
    """Attention rollout through layers 0..`up_to` of attentions [L, H, n, n]: <float64>[n, n], rows sum to 1.

    Ã_l = (1 - residual) * (the mean over layer l's heads) + residual * I; the rollout is Ã_l Ã_(l-1) ... Ã_0.
    Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; there the residual share is 0.5.
    """
    identity = np.eye(attentions.shape[-1])
    rolled = identity
    for layer in attentions[: up_to + 1]:  # [H, n, n]
        rolled = ((1 - residual) * layer.mean(axis=0, dtype=np.float64) + residual * identity) @ rolled
    return rolled


def to_words(weights: np.ndarray, starts: list[int]) -> np.ndarray:
    """Weights [..., n, n] between tokens as [..., w, w] between words, given the index of each word's first token.

    To a split word: the sum over its pieces. From one: the mean over its pieces, so that rows still sum to 1.
    Clark et al. 2019, "What Does BERT Look At?", section 4.1.
    """
    sizes = np.diff([*starts, weights.shape[-1]])
    to = np.add.reduceat(weights, starts, axis=-1)  # [..., n, w]
    return np.add.reduceat(to, starts, axis=-2) / sizes[:, None]  # [..., w, w]


def renormalise(weights: np.ndarray) -> np.ndarray:
    """Weights [n, m] with each row scaled to sum to 1; a row of zeros stays one."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)


def quarter_of(labels: Labels, quarter: Quarter) -> tuple[list[int], list[int]]:
    """The rows and the columns of a pair's quarter, as bertviz's filter has them: "A-B" is from A to B.

    [CLS] and the first [SEP] are A's, the last [SEP] is B's. Without a second sentence all of them stay.
    """
    everything = list(range(len(labels)))
    if quarter == "all" or labels.sentence_b_start is None:
        return everything, everything
    sides = {"A": everything[: labels.sentence_b_start], "B": everything[labels.sentence_b_start :]}
    return sides[quarter[0]], sides[quarter[-1]]
