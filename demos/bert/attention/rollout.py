"""Many heads as one matrix: mean and max, attention rollout, word level, hidden special tokens, a pair's quarters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from demos.bert.attention.contributions import (
    CONTRIBUTION,
    WEIGHT,
    Measured,
    added_norms,
    measured,
    staying_shares,
)
from demos.bert.attention.matrix_labels import Labels, word_starts
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.errors import UserError

What = Literal["head", "heads-mean", "heads-max", "layers-mean", "layers-max", "all-mean", "all-max", "rollout"]
Share = Literal["assumed", "measured"]  # of a vector that stays where it is in one layer of a rollout
Specials = Literal["show", "hide", "renormalise"]
Quarter = Literal["all", "A-A", "A-B", "B-A", "B-B"]


@dataclass(frozen=True)
class Recipe:
    """The steps from a run's attentions, in this order: combined, merged into words, specials hidden, a quarter cut."""

    what: What = "rollout"
    layer: int = 0  # of the heads; for a rollout the last layer that counts
    head: int = 0
    share: Share = "assumed"
    residual: float = 0.5  # the share that is assumed
    measure: str = WEIGHT  # or CONTRIBUTION
    words: bool = False
    specials: Specials = "show"
    quarter: Quarter = "all"


@dataclass(frozen=True)
class Aggregate:
    """The result of a recipe on a run: values <float64>[n, m], a row a query, and the names of both sides."""

    values: np.ndarray
    rows: Labels
    columns: Labels

    @property
    def sums(self) -> np.ndarray:
        """Each row's sum: <float64>[n]"""
        return self.values.sum(axis=1)


def aggregate(loaded: LoadedModel, run: Run, recipe: Recipe) -> Aggregate:
    """Apply `recipe` to a run of this model. Raises UserError where nothing is left to show."""
    if recipe.what == "rollout":
        weights = rollout(layer_mixing(loaded, run, layer, recipe) for layer in range(recipe.layer + 1))
    else:
        weights = joined_heads(measured(loaded, run, recipe.measure), recipe)
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


def joined_heads(by: Measured, recipe: Recipe) -> np.ndarray:
    """The recipe's one matrix of the heads' shares, by weight or by contribution: <float64>[n, n], a row a query.

    Rows sum to 1 but for a maximum, whose rows sum to 1 or more. Not for a rollout.
    """
    if recipe.what == "head":
        return by.shares(recipe.layer)[recipe.head].astype(np.float64)
    over, how = recipe.what.split("-")
    layers = [recipe.layer] if over == "heads" else range(by.run.num_layers)
    heads = slice(recipe.head, recipe.head + 1) if over == "layers" else slice(None)
    several = (by.shares(layer)[heads] for layer in layers)  # one at a time: of long inputs they are large
    if how == "max":
        return np.max([matrices.max(axis=0) for matrices in several], axis=0).astype(np.float64)
    return np.mean([matrices.mean(axis=0, dtype=np.float64) for matrices in several], axis=0)


def layer_mixing(loaded: LoadedModel, run: Run, layer: int, recipe: Recipe) -> np.ndarray:
    """The rollout: the estimated share of each input token in each token after `layer`: <float64>[n, n], rows sum to 1.

    By weight, the mean over the heads; by contribution, the norms of what each token adds through all of them
    (`added_norms`) as shares of their row. The residual connection's share is then assumed, the same for all
    (`with_assumed_share`), or measured for each token (`with_measured_shares`).
    """
    if recipe.measure == CONTRIBUTION:
        weights = renormalise(added_norms(loaded, run, layer))
    else:
        weights = run.attentions[layer].mean(axis=0, dtype=np.float64)
    if recipe.share == "measured":
        return with_measured_shares(weights, staying_shares(loaded, run, layer))
    return with_assumed_share(weights, recipe.residual)


def with_assumed_share(weights: np.ndarray, share: float) -> np.ndarray:
    """(1 - share) * weights + share * I, both [n, n].

    Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; there the share is 0.5.
    """
    return (1 - share) * weights + share * np.eye(len(weights))


def with_measured_shares(weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weights [n, n] with `shares` [n] on the diagonal; the rest goes to the other tokens in proportion to the weights.

    The shares are 1 - r of Kobayashi et al. 2021's mixing ratio r (`staying_shares`): the residual and a token's
    attention to itself are one vector there, so a weight on the token itself is part of its share.
    """
    others = renormalise(weights * (1 - np.eye(len(weights))))
    return (1 - shares)[:, None] * others + np.diag(shares)


def rollout(mixings: Iterable[np.ndarray]) -> np.ndarray:
    """The product of the layers' matrices <float64>[n, n], the last layer's leftmost: <float64>[n, n].

    Abnar and Zuidema 2020, section 3. Where the rows of all sum to 1, those of the product do.
    """
    rolled: np.ndarray | None = None
    for mixing in mixings:
        rolled = mixing if rolled is None else mixing @ rolled
    if rolled is None:
        raise ValueError("a rollout needs a layer")
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
