"""Every step as a picture: the whole tensor to scale, and a corner of it in numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from markupsafe import Markup
from PIL import Image
from scipy.special import softmax

from demos.bert.embeddings.tensors import Tensors, spread
from demos.figures.cell_strip import cells, pictures, scale_html, shades
from demos.figures.palette import PALETTE, word_colour
from demos.figures.short_text import short
from demos.figures.strips import strips_limit
from demos.lessons.embeddings.tensors.program import STEPS, lines_of
from demos.templates import templates
from demos.training.data.labelled_sentences import Labelled, Split
from demos.training.data.sst2 import URL
from demos.training.frozen_classifier import Fit

TEXT = templates(__file__)
NEAR = 2  # rows in numbers above and below the one that is followed
CORNER = 11  # columns in numbers
NUMBERS = 5  # of a vector
TEXT_LENGTH, LABEL_LENGTH = 90, 16
SPLIT_ROWS = 120  # of the feature matrix that are drawn
PIECE, SPECIAL = PALETTE["classes"][0], word_colour(None)


@dataclass(frozen=True, eq=False)
class Followed:
    """A data set's texts before the model reads them; `row` is the sentence followed."""

    data: Labelled
    source: str
    split: Split
    row: int

    @property
    def near(self) -> range:
        """The rows that are shown in numbers: the one followed, and those around it."""
        m = len(self.data.texts)
        first = min(max(0, self.row - NEAR), max(0, m - 2 * NEAR - 1))
        return range(first, min(m, first + 2 * NEAR + 1))

    @property
    def at(self) -> float:
        """Where the row lies in a picture of all rows, 0 to 1."""
        return (self.row + 0.5) / len(self.data.texts)

    @property
    def label(self) -> str:
        """The followed sentence's class."""
        return self.data.labels[self.data.targets[self.row]]

    @property
    def is_test(self) -> bool:
        """Whether the followed sentence is held out."""
        return bool(np.isin(self.row, self.split.test))

    @property
    def classes(self) -> dict[str, list[int]]:
        """How many sentences of each class are in all, in training and held out."""
        count = len(self.data.labels)
        parts = (self.data.targets, self.data.targets[self.split.train], self.data.targets[self.split.test])
        counts = [np.bincount(part, minlength=count) for part in parts]
        return {
            short(label, LABEL_LENGTH): [int(one[at]) for one in counts] for at, label in enumerate(self.data.labels)
        }


@dataclass(frozen=True, eq=False)
class Way(Followed):
    """All that the steps show: the data, its tensors, the classifier and guessing."""

    tensors: Tensors
    fit: Fit
    guess: Fit

    @cached_property
    def limit(self) -> float:
        """Of the colours of the last hidden state."""
        return strips_limit([self.tensors.states])

    @cached_property
    def chances(self) -> np.ndarray:
        """<float64>[C]: the followed sentence's probabilities."""
        chances: np.ndarray = self.fit.pipeline.predict_proba(self.tensors.features[self.row][None])[0]
        return chances


def texts_html(followed: Followed) -> Markup:
    """The first step, which needs no model."""
    shape, lines = _shape((len(followed.data.texts), 2)), lines_of(STEPS[0], followed.source, 0, 0)
    return TEXT.step(STEPS[0], 1, len(STEPS), shape, lines, _texts(followed))


def step_html(way: Way, step: str) -> Markup:
    """A step: its name, its shape, its lines of code, its picture, and what it says."""
    number = STEPS.index(step)
    lines = lines_of(step, way.source, len(way.fit.folds), len(way.split.test))
    return TEXT.step(step, number + 1, len(STEPS), shape_of(way, step), lines, PICTURES[step](way))


def shape_of(way: Way, step: str) -> str:
    """The shape of what the step makes, as the page writes it."""
    m, n, d = way.tensors.shape
    train, test = len(way.split.train), len(way.split.test)
    coefficients = way.fit.pipeline[-1].coef_.shape
    shapes: dict[str, tuple[tuple[object, ...], ...]] = {
        "texts": ((m, 2),),
        "ids": ((m, f"{way.tensors.ids.lengths.min()} … {n}"),),
        "padded": ((m, n),),
        "mask": ((m, n),),
        "states": ((m, n, d),),
        "slice": ((m, d),),
        "table": ((m, d + 1),),
        "split": ((train, d), (test, d)),
        "regression": (coefficients, coefficients[:1]),
        "folds": ((len(way.fit.folds),),),
        "score": (),
    }
    return " and ".join(map(_shape, shapes[step]))


def _shape(sizes: tuple[object, ...]) -> str:
    return f"[{' × '.join(f'{size:,}' if isinstance(size, int | np.integer) else str(size) for size in sizes)}]"


def _texts(followed: Followed) -> Markup:
    data = followed.data
    rows = [
        (row, short(data.texts[row], TEXT_LENGTH), short(data.labels[data.targets[row]], LABEL_LENGTH))
        for row in followed.near
    ]
    return TEXT.texts(rows, followed.row, data, followed.classes, URL)


def _ids(way: Way) -> Markup:
    """Every list as a line as long as it has ids, and some in numbers."""
    lengths = way.tensors.ids.lengths
    rows = [(row, _cut([int(one) for one in way.tensors.ids.of(np.array([row]))]), lengths[row]) for row in way.near]
    return TEXT.ids(_whole(way, _tokens(way)), rows, way.row, lengths)


def _padded(way: Way) -> Markup:
    padded, mask = way.tensors.padded, way.tensors.mask
    return TEXT.padded(
        _whole(way, _tokens(way, padding=True)), _numbers(way, padded), way.row, padded.shape, int((mask == 0).sum())
    )


def _mask(way: Way) -> Markup:
    mask = way.tensors.mask
    picture = _painted([np.where(mask[..., None] == 1, _rgba(PIECE), _rgba(SPECIAL, 90)).astype(np.uint8)])
    return TEXT.mask(_whole(way, picture), _numbers(way, mask), way.row, mask.shape, int(mask.sum()))


def _numbers(way: Way, matrix: np.ndarray) -> list[tuple[int, list[object]]]:
    """The rows near the followed one: (number, the first cells and the last)."""
    return [(row, _cut([int(one) for one in matrix[row]])) for row in way.near]


def _cut(values: list[Any], most: int = CORNER) -> list[object]:
    """The values, their middle replaced by a mark where they are many."""
    return values if len(values) <= most else [*values[: most - 2], "…", values[-1]]


def _tokens(way: Way, padding: bool = False) -> dict[str, str]:
    """All rows of ids, a pixel each: special tokens grey, word pieces blue, padding pale or nothing."""
    mask, lengths = way.tensors.mask, way.tensors.ids.lengths
    colours = np.where(mask[..., None] == 1, _rgba(PIECE), _rgba(SPECIAL, 40 if padding else 0)).astype(np.uint8)
    rows = np.arange(len(mask))
    colours[rows, 0] = colours[rows, lengths - 1] = _rgba(SPECIAL)  # [CLS] and [SEP]
    return _painted([colours])


def _rgba(colour: str, alpha: int = 255) -> np.ndarray:
    return np.array([*(int(colour[at : at + 2], 16) for at in (1, 3, 5)), alpha])


def _painted(images: list[np.ndarray]) -> dict[str, str]:
    """A picture for both papers: base64 of a PNG."""
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(np.concatenate(images))).save(file, "PNG", optimize=True)
    return {"any": base64.b64encode(file.getvalue()).decode("ascii")}


def _whole(way: Way, picture: dict[str, str]) -> dict[str, Any]:
    """A picture of all rows, and where in it the followed row lies."""
    return {"picture": picture, "at": way.at}


def _states(way: Way) -> Markup:
    return TEXT.states(_block(way), way.tensors, way.row, scale_html(("one number", way.limit)))


def _slice(way: Way) -> Markup:
    return TEXT.sliced(_block(way), way.tensors, way.row, _vector(way), scale_html(("one number", way.limit)))


def _vector(way: Way) -> Markup:
    row = way.tensors.features[way.row]
    return cells(row, way.limit, f"[CLS] of row {way.row}")


def _block(way: Way) -> dict[str, Any]:
    """The tensor's visible faces, as pictures: for the block of all tokens, and for what is behind the slice."""
    states, limit = way.tensors.states, way.limit  # [s, n, c]

    def face(values: np.ndarray) -> dict[str, str]:
        return pictures(shades(values, limit))

    behind = states[:, 1:] if states.shape[1] > 1 else states
    return {
        "front": face(states[:, 0]),  # [s, c]: sentences down, dimensions across
        "next": face(behind[:, 0]),
        "top": face(states[0]),  # [n, c]: tokens into the depth
        "side": face(states[:, :, -1]),  # [s, n]
        "slice_side": face(states[:, :1, -1]),
        "slice_top": face(states[:1, 0]),
        "at": way.at,
        "drawn": states.shape,
    }


def _table(way: Way) -> Markup:
    d = way.tensors.shape[2]
    rows = [
        (row, way.tensors.features[row][[*range(NUMBERS), d - 1]], way.data.labels[way.data.targets[row]])
        for row in way.near
    ]
    return TEXT.table(rows, way.row, NUMBERS, d, _features(way, np.arange(len(way.data.texts)), way.at))


def _features(way: Way, rows: np.ndarray, at: float | None) -> dict[str, Any]:
    """The features of these rows, some of them drawn: their picture, each one's class as a colour, and their count."""
    drawn = rows[spread(len(rows), SPLIT_ROWS)]
    shown = way.tensors.features[drawn][:, way.tensors.columns]
    classes = np.array(
        [_rgba(PALETTE["classes"][number % len(PALETTE["classes"])]) for number in way.data.targets[drawn]]
    )
    return {
        "picture": pictures(shades(shown, way.limit)),
        "labels": _painted([classes[:, None].astype(np.uint8)]),
        "at": at,
        "count": len(rows),
        "drawn": len(drawn),
        "share": len(rows) / len(way.data.texts),
    }


def _split(way: Way) -> Markup:
    parts = {}
    for name, rows in (("training part", way.split.train), ("held out", way.split.test)):
        found = np.flatnonzero(rows == way.row)
        parts[name] = _features(way, rows, (found[0] + 0.5) / len(rows) if found.size else None)
    return TEXT.split(parts, way.row, way.is_test, way.classes)


def _regression(way: Way) -> Markup:
    """w . x + b of the followed sentence, and the probability; of more than two classes, the one with the largest."""
    classify, x = way.fit.pipeline[-1], way.tensors.features[way.row].astype(np.float64)
    two = len(classify.coef_) == 1
    best = int(way.chances.argmax())
    at = 0 if two else best
    w, b = classify.coef_[at], float(classify.intercept_[at])
    strips = {
        "x": cells(x, way.limit, "x"),
        "w": cells(w, strips_limit([w]), "w"),
        "products": cells(w * x, strips_limit([w * x]), "w × x"),
    }
    named = way.data.labels[1 if two else best]
    chance = float(way.chances[1] if two else softmax(classify.coef_ @ x + classify.intercept_)[best])
    labels = {"of": short(named, LABEL_LENGTH), "predicted": short(way.data.labels[best], LABEL_LENGTH)}
    labels["true"] = short(way.label, LABEL_LENGTH)
    total = float(w @ x) + b
    return TEXT.regression(way, strips, labels, b, total, chance, two, classify.coef_.size + classify.intercept_.size)


def _folds(way: Way) -> Markup:
    return TEXT.folds(way.fit.folds, way.fit.cross_validated, float(np.std(way.fit.folds)), len(way.split.train))


def _score(way: Way) -> Markup:
    rows = [("logistic regression on [CLS]", way.fit), ("guessing: always the most frequent class", way.guess)]
    return TEXT.score(rows, len(way.split.test))


PICTURES: dict[str, Callable[[Way], Markup]] = {
    "texts": _texts,
    "ids": _ids,
    "padded": _padded,
    "mask": _mask,
    "states": _states,
    "slice": _slice,
    "table": _table,
    "split": _split,
    "regression": _regression,
    "folds": _folds,
    "score": _score,
}
