"""Two attentions side by side and their difference: the pictures, the words about them, the tables and the program."""

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from demos.bert.attention.alignment import Alignment
from demos.bert.attention.comparison import Comparison, Which
from demos.bert.attention.contributions import CONTRIBUTION
from demos.bert.attention.matrix_labels import Labels
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.layer_weights import LAYERS, PARTS, values_of
from demos.bert.model.run import Run
from demos.counting import counted
from demos.figures.download_names import rounded
from demos.figures.figure.figure import Figure
from demos.figures.matrix import BAR, BARE, matrix_figure, matrix_table
from demos.figures.palette import PALETTE, colour_scale, plotly_layout
from demos.figures.program import model_lines, texts_of
from demos.files import Json
from demos.templates import templates

TEXT, PROGRAM = templates(__file__), templates(__file__, "program.txt")
NOTHING = 5e-4  # a difference below this shows as 0.000


@dataclass(frozen=True)
class Side:
    """One side of the comparison, as the page speaks of it."""

    title: str
    run: Run
    which: Which


def pictures(comparison: Comparison) -> tuple[Figure, Figure, Figure]:
    """Heatmaps of the left side, the right side (on one scale) and the difference (diverging, white at zero)."""
    labels = labels_of(comparison.alignment)
    peak = max(float(np.nanmax(comparison.left, initial=0)), float(np.nanmax(comparison.right, initial=0)))
    limit = max(0.01, np.ceil(peak * 100) / 100)
    left, right = (
        matrix_figure(side, labels, labels, limit=limit, what=_quantity(comparison), narrow=True)
        for side in (comparison.left, comparison.right)
    )
    difference = matrix_figure(comparison.difference, labels, labels, scale="signed", what="right − left", narrow=True)
    return left, right, difference


class Cell(NamedTuple):
    row: str
    column: str
    left: float
    right: float
    difference: float


def _quantity(comparison: Comparison) -> str:
    """The meaning of a cell: a weight, or a share of its row's contributions."""
    return "share" if comparison.measure == CONTRIBUTION else "weight"


def labels_of(alignment: Alignment) -> Labels:
    """The rows' names, which of them are special tokens, where sentence B begins, and the left side's hues."""
    units = [unit for here, there in alignment.pairs if (unit := here or there)]
    sentences = [unit.sentence for unit in units]
    start = sentences.index(1) if 1 in sentences else None
    return Labels(
        names=alignment.names,
        special=tuple(unit.special for unit in units),
        sentence_b_start=start if start is not None and 0 not in sentences[start:] else None,
        words=tuple(unit.word for unit in units),
    )


def summary_html(comparison: Comparison, left: Side, right: Side) -> str:
    """The pictures in words: the largest difference, the mean one, and what could not be compared."""
    alignment, ranked = comparison.alignment, ranked_cells(comparison)
    special = labels_of(alignment).special
    between = next((place for place in ranked if not any(special[index] for index in place)), None)
    largest = _cell(comparison, *ranked[0]) if ranked else None
    drawn = [(side, units[-1].tokens[-1] + 1) for side, units in ((left, alignment.left), (right, alignment.right))]
    return TEXT.summary(
        what=_quantity(comparison),
        name=left.which.name if left.which == right.which else f"{left.which.name}, compared with {right.which.name}",
        largest=largest,
        nothing=largest and abs(largest.difference) < NOTHING,
        between=_cell(comparison, *between) if between and between != ranked[0] else None,
        mean=float(np.nanmean(np.abs(comparison.difference))) if ranked else 0.0,
        by_word=alignment.by_word,
        only=[(side, names) for side, names in zip(("left", "right"), alignment.lonely, strict=True) if names],
        cut=[(side.title, shown, len(side.run.encoding)) for side, shown in drawn if shown < len(side.run.encoding)],
    )


def _cell(comparison: Comparison, i: int, j: int) -> Cell:
    names = comparison.alignment.names
    return Cell(names[i], names[j], comparison.left[i, j], comparison.right[i, j], comparison.difference[i, j])


def ranked_cells(comparison: Comparison) -> list[tuple[int, int]]:
    """The cells that both sides have, the largest difference first."""
    size = np.abs(comparison.difference)
    return [(i, j) for i, j in _descending(size) if np.isfinite(size[i, j])]


def most_different(heads: np.ndarray | None, count: int = 3) -> list[tuple[int, int, float]]:
    """(layer, head, share moved) of the heads that differ most, in order; none where heads can't be matched."""
    if heads is None or not np.isfinite(heads).all():
        return []
    return [(layer, head, float(heads[layer, head])) for layer, head in _descending(heads)[:count]]


def _descending(values: np.ndarray) -> list[tuple[int, int]]:
    """The places of a matrix, the largest value first, nan last."""
    rows, columns = np.unravel_index(np.argsort(-values, axis=None, kind="stable"), values.shape)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def heads_figure(heads: np.ndarray, which: Which) -> Figure:
    """The share of attention that moved in every head [L, A], a row for each layer; the open head is framed."""
    layers, count = heads.shape
    heatmap = {
        "type": "heatmap",
        "z": np.round(heads, 5),
        "zmin": 0,
        "zmax": max(0.01, float(np.nanmax(heads, initial=0))),
        "colorscale": colour_scale("magnitude"),
        "x": list(range(1, count + 1)),
        "y": list(range(1, layers + 1)),
        "hovertemplate": "layer %{y}, head %{x}<br>%{z:.1%} of its attention has moved<extra></extra>",
        "xgap": 1,
        "ygap": 1,
        "colorbar": BAR | {"nticks": 5, "tickformat": ".0%"},
    }
    frames = []
    if which.layer is not None:
        first, last = (1, count) if which.head is None else (counted(which.head), counted(which.head))
        box = {"x0": first - 0.5, "x1": last + 0.5, "y0": counted(which.layer) - 0.5, "y1": counted(which.layer) + 0.5}
        frames.append({"type": "rect", "line": {"color": PALETTE["classes"][5], "width": 3}} | box)
    axis = BARE | {"dtick": 1, "tickfont": {"size": 16}}
    layout = plotly_layout(
        height=min(640, 34 * layers + 96),
        margin={"l": 56, "r": 10, "t": 56, "b": 10},
        xaxis=axis | {"side": "top", "title": {"text": "head", "standoff": 6}},
        yaxis=axis | {"autorange": "reversed", "title": {"text": "layer", "standoff": 6}},
        shapes=frames,
    )
    return {"data": [heatmap], "layout": layout}


def largest_html(comparison: Comparison, count: int = 8) -> str:
    """The largest differences as a table, both weights beside each."""
    return TEXT.largest([_cell(comparison, *place) for place in ranked_cells(comparison)[:count]])


def numbers_html(comparison: Comparison, left: Side, right: Side) -> str:
    """Three tables: each side's weights and the difference, by the rows of the pictures."""
    labels = labels_of(comparison.alignment)
    of = ", by contribution" if comparison.measure == CONTRIBUTION else ""
    return (
        matrix_table(comparison.difference, labels, labels, f"Right minus left{of}")
        + matrix_table(comparison.left, labels, labels, f"Left, {left.which.name}{of}")
        + matrix_table(comparison.right, labels, labels, f"Right, {right.which.name}{of}")
    )


def comparison_json(comparison: Comparison, left: Side, right: Side) -> str:
    """Both sides' weights and their difference as a JSON document; null where a side has no such word."""
    what = "BERT's attention weights"
    if comparison.measure == CONTRIBUTION:
        what += " times the lengths of the transformed values, as shares of each row (Kobayashi et al. 2020),"
    document: Json = {
        "what": f"{what} on two sides and right minus left: [query][key], in the order of rows",
        "measure": comparison.measure,
        "counting": "layer and head from 0, as in transformers; attention from 1, as on the page",
        "rows": list(comparison.alignment.names),
        "special": list(labels_of(comparison.alignment).special),
        "by_word": comparison.alignment.by_word,
    }
    for name, side, weights in (("left", left, comparison.left), ("right", right, comparison.right)):
        encoding = side.run.encoding
        document[name] = {
            "title": side.title,
            "text": encoding.text,
            "text_pair": encoding.text_pair,
            "tokens": list(encoding.tokens),
            "layer": side.which.layer,
            "head": side.which.head,
            "attention": side.which.name,
            "weights": rounded(weights),
        }
    document["difference"] = rounded(comparison.difference)
    if comparison.heads is not None:
        document["moved"] = rounded(comparison.heads)  # the share of its attention that each head moved
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def compare_code(left: Side, right: Side, specs: tuple[ModelSpec, ModelSpec], comparison: Comparison) -> str:
    """A program that prints the largest differences, with transformers alone.

    A model fine-tuned in the page has no public name: its folder is left to the reader.
    """
    imports, sides = set(), []
    for name, side, spec in zip(("left", "right"), (left, right), specs, strict=True):
        needed, source = model_lines(spec)
        imports.add(needed)
        # ALBERT's tokenizer gives no segments unasked.
        options = ", return_token_type_ids=True" if spec.architecture == "albert" else ""
        sides.append(
            {
                "name": name,
                "source": source,
                "texts": texts_of(side.run.encoding) + options,
                "which": side.which,
                "head_values": values_of(spec.architecture),
                "output": PARTS[spec.architecture]["output"],
                "layers": LAYERS[spec.architecture],
            }
        )
    alignment = comparison.alignment
    rows = [
        (name, list(here.tokens), list(there.tokens))
        for name, (here, there) in zip(alignment.names, alignment.pairs, strict=True)
        if here and there
    ]
    by_norm = comparison.measure == CONTRIBUTION
    return PROGRAM.program("".join(imports), sides, rows, MAX_TOKENS, by_norm)
