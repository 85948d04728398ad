"""Every step as a picture: the whole tensor to scale, and a corner of it in numbers."""

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

from demos.bert.embeddings.first_reviews import REVIEWS, SHAPES, shapes_of
from demos.bert.embeddings.tensors import Tensors, spread
from demos.figures.cell_strip import cells, pictures, scale_html, shades
from demos.figures.palette import PALETTE, channels_of, word_colour
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
FIRST_IDS = 8  # of each of the guide's rows, in numbers
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
        """The position of the row in a picture of all rows, 0 to 1."""
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
        """The number of sentences of each class: in all, in training and held out."""
        count = len(self.data.labels)
        parts = (self.data.targets, self.data.targets[self.split.train], self.data.targets[self.split.test])
        counts = [np.bincount(part, minlength=count) for part in parts]
        return {
            short(label, LABEL_LENGTH): [int(part_counts[at]) for part_counts in counts]
            for at, label in enumerate(self.data.labels)
        }


@dataclass(frozen=True, eq=False)
class StepResults(Followed):
    """The results of all steps: the data, its tensors, the classifier and guessing."""

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
        return self.fit.pipeline.predict_proba(self.tensors.features[self.row][None])[0]


def texts_html(followed: Followed) -> Markup:
    """The first step, which needs no model."""
    shape, lines = _shape((len(followed.data.texts), 2)), lines_of(STEPS[0], followed.source, 0, 0)
    return TEXT.step(STEPS[0], 1, len(STEPS), shape, lines, _texts(followed))


def step_html(results: StepResults, step: str) -> Markup:
    """A step: its name, its shape, its lines of code, its picture, and its text."""
    number = STEPS.index(step)
    lines = lines_of(step, results.source, len(results.fit.folds), len(results.split.test))
    return TEXT.step(step, number + 1, len(STEPS), shape_of(results, step), lines, PICTURES[step](results))


def first_reviews_html(tensors: Tensors, model: str, step: str, row: int) -> Markup:
    """SST-2's first rows with their labels and ids, and each step's shape, the guide's beside that of these rows."""
    rows = [
        (at, text, label, _cut([int(token_id) for token_id in tensors.ids.of(np.array([at]))], FIRST_IDS))
        for at, (text, label) in enumerate(REVIEWS)
    ]
    shapes = shapes_of(*tensors.shape)
    compared = [(name, _shape(SHAPES[name]), _shape(shapes[name])) for name in SHAPES]
    return TEXT.first_reviews(rows, row, compared, step, model)


def shape_of(results: StepResults, step: str) -> str:
    """The shape of the step's output, as the page writes it."""
    m, n, d = results.tensors.shape
    train, test = len(results.split.train), len(results.split.test)
    coefficients = results.fit.pipeline[-1].coef_.shape
    shapes: dict[str, tuple[tuple[object, ...], ...]] = {
        "texts": ((m, 2),),
        "ids": ((m, f"{results.tensors.ids.lengths.min()} … {n}"),),
        "padded": ((m, n),),
        "mask": ((m, n),),
        "states": ((m, n, d),),
        "slice": ((m, d),),
        "table": ((m, d + 1),),
        "split": ((train, d), (test, d)),
        "regression": (coefficients, coefficients[:1]),
        "folds": ((len(results.fit.folds),),),
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


def _ids(results: StepResults) -> Markup:
    """Every list as a line as long as it has ids, and some in numbers."""
    lengths = results.tensors.ids.lengths
    rows = [
        (row, _cut([int(token_id) for token_id in results.tensors.ids.of(np.array([row]))]), lengths[row])
        for row in results.near
    ]
    return TEXT.ids(_whole(results, _tokens(results)), rows, results.row, lengths)


def _padded(results: StepResults) -> Markup:
    padded, mask = results.tensors.padded, results.tensors.mask
    return TEXT.padded(
        _whole(results, _tokens(results, padding=True)),
        _numbers(results, padded),
        results.row,
        padded.shape,
        int((mask == 0).sum()),
    )


def _mask(results: StepResults) -> Markup:
    mask = results.tensors.mask
    picture = _painted([np.where(mask[..., None] == 1, _rgba(PIECE), _rgba(SPECIAL, 90)).astype(np.uint8)])
    return TEXT.mask(_whole(results, picture), _numbers(results, mask), results.row, mask.shape, int(mask.sum()))


def _numbers(results: StepResults, matrix: np.ndarray) -> list[tuple[int, list[object]]]:
    """The rows near the followed one: (number, the first cells and the last)."""
    return [(row, _cut([int(value) for value in matrix[row]])) for row in results.near]


def _cut(values: list[Any], most: int = CORNER) -> list[object]:
    """The values, their middle replaced by a mark where they are many."""
    return values if len(values) <= most else [*values[: most - 2], "…", values[-1]]


def _tokens(results: StepResults, padding: bool = False) -> dict[str, str]:
    """All rows of ids, a pixel each: special tokens grey, word pieces blue, padding pale or nothing."""
    mask, lengths = results.tensors.mask, results.tensors.ids.lengths
    colours = np.where(mask[..., None] == 1, _rgba(PIECE), _rgba(SPECIAL, 40 if padding else 0)).astype(np.uint8)
    rows = np.arange(len(mask))
    colours[rows, 0] = colours[rows, lengths - 1] = _rgba(SPECIAL)  # [CLS] and [SEP]
    return _painted([colours])


def _rgba(colour: str, alpha: int = 255) -> np.ndarray:
    return np.array([*channels_of(colour), alpha])


def _painted(images: list[np.ndarray]) -> dict[str, str]:
    """A picture for both papers: base64 of a PNG."""
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(np.concatenate(images))).save(file, "PNG", optimize=True)
    return {"any": base64.b64encode(file.getvalue()).decode("ascii")}


def _whole(results: StepResults, picture: dict[str, str]) -> dict[str, object]:
    """A picture of all rows, and the followed row's place in it."""
    return {"picture": picture, "at": results.at}


def _states(results: StepResults) -> Markup:
    return TEXT.states(_block(results), results.tensors, results.row, scale_html(("one number", results.limit)))


def _slice(results: StepResults) -> Markup:
    return TEXT.sliced(
        _block(results), results.tensors, results.row, _vector(results), scale_html(("one number", results.limit))
    )


def _vector(results: StepResults) -> Markup:
    row = results.tensors.features[results.row]
    return cells(row, results.limit, f"[CLS] of row {results.row}")


def _block(results: StepResults) -> dict[str, object]:
    """The tensor's visible faces, as pictures: for the block of all tokens, and for what is behind the slice."""
    states, limit = results.tensors.states, results.limit  # [s, n, c]

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
        "at": results.at,
        "drawn": states.shape,
    }


def _table(results: StepResults) -> Markup:
    d = results.tensors.shape[2]
    rows = [
        (row, results.tensors.features[row][[*range(NUMBERS), d - 1]], results.data.labels[results.data.targets[row]])
        for row in results.near
    ]
    return TEXT.table(rows, results.row, NUMBERS, d, _features(results, np.arange(len(results.data.texts)), results.at))


def _features(results: StepResults, rows: np.ndarray, at: float | None) -> dict[str, object]:
    """The features of these rows, some of them drawn: their picture, each one's class as a colour, and their count."""
    drawn = rows[spread(len(rows), SPLIT_ROWS)]
    shown = results.tensors.features[drawn][:, results.tensors.columns]
    classes = np.array(
        [_rgba(PALETTE["classes"][number % len(PALETTE["classes"])]) for number in results.data.targets[drawn]]
    )
    return {
        "picture": pictures(shades(shown, results.limit)),
        "labels": _painted([classes[:, None].astype(np.uint8)]),
        "at": at,
        "count": len(rows),
        "drawn": len(drawn),
        "share": len(rows) / len(results.data.texts),
    }


def _split(results: StepResults) -> Markup:
    parts = {}
    for name, rows in (("training part", results.split.train), ("held out", results.split.test)):
        positions = np.flatnonzero(rows == results.row)
        parts[name] = _features(results, rows, (positions[0] + 0.5) / len(rows) if positions.size else None)
    return TEXT.split(parts, results.row, results.is_test, results.classes)


def _regression(results: StepResults) -> Markup:
    """w . x + b of the followed sentence, and the probability; of more than two classes, the one with the largest."""
    classify, x = results.fit.pipeline[-1], results.tensors.features[results.row].astype(np.float64)
    two = len(classify.coef_) == 1
    best = int(results.chances.argmax())
    at = 0 if two else best
    w, b = classify.coef_[at], float(classify.intercept_[at])
    strips = {
        "x": cells(x, results.limit, "x"),
        "w": cells(w, strips_limit([w]), "w"),
        "products": cells(w * x, strips_limit([w * x]), "w × x"),
    }
    named = results.data.labels[1 if two else best]
    chance = float(results.chances[1] if two else softmax(classify.coef_ @ x + classify.intercept_)[best])
    labels = {"of": short(named, LABEL_LENGTH), "predicted": short(results.data.labels[best], LABEL_LENGTH)}
    labels["true"] = short(results.label, LABEL_LENGTH)
    total = float(w @ x) + b
    return TEXT.regression(
        results, strips, labels, b, total, chance, two, classify.coef_.size + classify.intercept_.size
    )


def _folds(results: StepResults) -> Markup:
    return TEXT.folds(
        results.fit.folds, results.fit.cross_validated, float(np.std(results.fit.folds)), len(results.split.train)
    )


def _score(results: StepResults) -> Markup:
    rows = [("logistic regression on [CLS]", results.fit), ("guessing: always the most frequent class", results.guess)]
    return TEXT.score(rows, len(results.split.test))


PICTURES: dict[str, Callable[[StepResults], Markup]] = {
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
