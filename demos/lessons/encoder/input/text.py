"""A token's way to the first layer in words and tables, each number the picture's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.input import InputLedger
from demos.bert.encoder.input_changed import Changes
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.numbers import scientific
from demos.figures.strips import Strip, strips_table
from demos.figures.tables import number_table
from demos.lessons.encoder.input.figure import CHANGE_NAMES, MOST_TOKENS
from demos.templates import templates

TEXT = templates(__file__)


def one_hot_summary(encoding: Encoding, vocabulary: int) -> Markup:
    """The part of the one-hot matrix that is drawn."""
    drawn = encoding.input_ids[:MOST_TOKENS]
    return TEXT.one_hot(len(encoding), len(drawn), len(set(drawn)), vocabulary)


def sum_summary(ledger: InputLedger, token: int, spec: ModelSpec) -> Markup:
    """Step 2: the vectors that are added, and the longest of them."""
    parts = {"word": ledger.word, "position": ledger.position, "segment": ledger.segment}
    norms = {name: float(np.linalg.norm(part[token])) for name, part in parts.items() if part is not None}
    longest = max(norms, key=norms.__getitem__)
    return TEXT.sum(ledger.total.shape[1], norms, np.linalg.norm(ledger.total[token]), longest, spec.title)


def norm_summary(ledger: InputLedger, embedding_output: np.ndarray, token: int) -> Markup:
    """Step 3: mean and deviation of this token, and the check against the model."""
    norm, difference = ledger.norm, scientific(ledger.difference(embedding_output))
    n, width = norm.normalised.shape
    return TEXT.norm(width, norm.mean[token], norm.deviation[token], n, difference)


def changes_summary(changes: Changes, encoding: Encoding, token: int, spec: ModelSpec) -> Markup:
    """Step 4: the picture's cosines for the chosen token, the shuffled words, and the bag of words."""
    by_name = {change.name: change for change in changes.changes}
    cosines = {CHANGE_NAMES[name]: change.cosine[token] for name, change in by_name.items() if name != "bag"}
    order = [encoding.tokens[number] for number in changes.order]
    return TEXT.changes(encoding.tokens, token, cosines, order, spec, scientific(by_name["bag"].largest))


def numbers_html(strips: Sequence[Strip], ledger: InputLedger, encoding: Encoding) -> Markup:
    """The fold "The numbers": the strips' first components, then each token's norms."""
    parts = {"word": ledger.word, "segment": ledger.segment, "position": ledger.position}
    parts |= {"sum": ledger.total, "after LayerNorm": ledger.result}
    norms = {name: np.linalg.norm(part, axis=-1) for name, part in parts.items() if part is not None}
    caption = "The first components of each vector, with mean, standard deviation and norm over all of them"
    return strips_table(strips, caption) + _table("Norms of each token's vectors", norms, encoding.tokens, 3)


def changes_table(changes: Changes, encoding: Encoding) -> Markup:
    """The picture's cosines, one row per token and one for the mean of all."""
    columns = {CHANGE_NAMES[change.name]: [*change.cosine, change.sentence] for change in changes.changes}
    caption = "Cosine between the final states with the full input and after each change"
    return _table(caption, columns, [*encoding.tokens, "mean of all"], 4)


def _table(caption: str, columns: Mapping[str, Sequence[float]], names: Sequence[str], digits: int) -> Markup:
    rows = zip(names, zip(*columns.values(), strict=True), strict=True)
    return number_table(caption, columns, [(name, [f"{value:.{digits}f}" for value in row]) for name, row in rows])
