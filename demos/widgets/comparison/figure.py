"""Two attentions side by side and their difference: the pictures, the words about them, the tables and the program."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from demos.bert.attention.alignment import Alignment
from demos.bert.attention.comparison import Comparison, Which
from demos.bert.attention.matrix_labels import Labels
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.run import Run
from demos.figures.download_names import DIGITS
from demos.figures.matrix import matrix_figure, matrix_table
from demos.figures.palette import PALETTE, colour_scale, plotly_layout
from demos.figures.program import model_lines, texts_of
from demos.figures.tables import column_heads, scrolling_table

LISTED = 8  # differences in the table of the largest
NAMED = 8  # words without a partner that are named
NOTHING = 5e-4  # a difference below this shows as 0.000


@dataclass(frozen=True)
class Side:
    """One side of the comparison, as the page speaks of it."""

    title: str
    run: Run
    which: Which


def pictures(found: Comparison) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Heatmaps of the left side, the right side (on one scale) and the difference (diverging, white at zero)."""
    labels = labels_of(found.alignment)
    peak = max(float(np.nanmax(found.left, initial=0)), float(np.nanmax(found.right, initial=0)))
    limit = max(0.01, np.ceil(peak * 100) / 100)
    one, other = (matrix_figure(side, labels, labels, limit=limit, narrow=True) for side in (found.left, found.right))
    difference = matrix_figure(found.difference, labels, labels, scale="signed", what="right − left", narrow=True)
    return one, other, difference


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


def heading_html(side: str, title: str) -> str:
    """What stands above one of the pictures."""
    return f"<h3>{html.escape(side)}: {html.escape(title)}</h3>"


def told_html(found: Comparison, left: Side, right: Side) -> str:
    """The pictures in words: the largest difference, the mean one, and what could not be compared (HTML)."""
    name = left.which.name if left.which == right.which else f"{left.which.name}, against {right.which.name}"
    said = [f"<b>{html.escape(name[0].upper() + name[1:])}.</b>"]
    shared = np.isfinite(found.difference)
    ranked = ranked_cells(found)
    if not len(ranked):
        said.append("The two sides have no token in common.")
    elif abs(found.difference[*ranked[0]]) < NOTHING:
        said.append("Left and right are the same here: no weight differs by 0.0005 or more.")
    else:
        said.append(f"The largest difference: {_cell_told(found, *ranked[0])}.")
        special = labels_of(found.alignment).special
        between = next(((i, j) for i, j in ranked if not special[i] and not special[j]), None)
        if between is not None and tuple(ranked[0]) != tuple(between):
            said.append(f"Between words: {_cell_told(found, *between)}.")
        said.append(f"On average a weight differs by {np.abs(found.difference[shared]).mean():.3f}.")
    return f"<p>{' '.join(said)}</p>" + _aside(found, left, right)


def _aside(found: Comparison, left: Side, right: Side) -> str:
    said = []
    if found.alignment.by_word:
        said.append("Their tokens differ, so words are compared: the pieces of a split word count as one.")
    for where, names in zip(("left", "right"), found.alignment.lonely, strict=True):
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            listed = ", ".join(f"<q>{html.escape(name)}</q>" for name in names[:NAMED])
            said.append(f"Only the {where} has {listed}{more}: empty in the difference.")
    for side, units in ((left, found.alignment.left), (right, found.alignment.right)):
        drawn, n = units[-1].tokens[-1] + 1, len(side.run.encoding)
        if drawn < n:
            said.append(f"{html.escape(side.title)}: only the first {drawn} of {n} tokens are compared.")
    return f'<p class="aside">{" ".join(said)}</p>' if said else ""


def _cell_told(found: Comparison, i: int, j: int) -> str:
    names = found.alignment.names
    return (
        f"from <q>{html.escape(names[i])}</q> to <q>{html.escape(names[j])}</q> "
        f"<b>{_signed(found.difference[i, j])}</b> on the right "
        f"({found.left[i, j]:.2f} → {found.right[i, j]:.2f})"
    )


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def ranked_cells(found: Comparison) -> np.ndarray:
    """The cells that both sides have, the largest difference first: <int>[cells, 2]."""
    size = np.nan_to_num(np.abs(found.difference), nan=-1.0)
    order = np.argsort(-size, axis=None, kind="stable")[: int((size >= 0).sum())]
    return np.stack(np.unravel_index(order, size.shape), axis=-1)


def most_different(heads: np.ndarray | None, count: int = 3) -> list[tuple[int, int, float]]:
    """(layer, head, share moved) of the heads that differ most, in order; none where heads can't be matched."""
    if heads is None or not np.isfinite(heads).all():
        return []
    order = np.argsort(-heads, axis=None, kind="stable")[:count]
    return [
        (int(layer), int(head), float(heads[layer, head]))
        for layer, head in zip(*np.unravel_index(order, heads.shape), strict=True)
    ]


def heads_figure(heads: np.ndarray, which: Which) -> go.Figure:
    """How much attention moved in every head [L, H], a row a layer; the head that is open is framed."""
    layers, count = heads.shape
    figure = go.Figure(
        go.Heatmap(
            z=np.round(heads, 5),
            zmin=0,
            zmax=max(0.01, float(np.nanmax(heads, initial=0))),
            colorscale=colour_scale("magnitude"),
            hovertemplate="layer %{y}, head %{x}<br>%{z:.1%} of its attention moved<extra></extra>",
            xgap=1,
            ygap=1,
            colorbar={"thickness": 12, "len": 1, "outlinewidth": 0, "nticks": 5, "tickformat": ".0%"},
        )
    )
    figure.update_layout(
        **plotly_layout(height=min(640, 34 * layers + 96), margin={"l": 56, "r": 10, "t": 56, "b": 10})
    )
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "dtick": 1, "tickfont": {"size": 15}}
    figure.update_xaxes(**axis, side="top", title={"text": "head", "standoff": 6})
    figure.update_yaxes(**axis, autorange="reversed", title={"text": "layer", "standoff": 6})
    if which.layer is not None:
        row = {"y0": which.layer - 0.5, "y1": which.layer + 0.5}
        column = (
            {"x0": -0.5, "x1": count - 0.5} if which.head is None else {"x0": which.head - 0.5, "x1": which.head + 0.5}
        )
        figure.add_shape(type="rect", line={"color": PALETTE["classes"][5], "width": 3}, **row, **column)
    return figure


def largest_html(found: Comparison, count: int = LISTED) -> str:
    """The largest differences as a table, both weights beside each."""
    names = [html.escape(name) for name in found.alignment.names]
    lines = "".join(
        f'<tr><th scope="row">{names[i]}</th><th scope="row">{names[j]}</th><td>{found.left[i, j]:.3f}</td>'
        f"<td>{found.right[i, j]:.3f}</td><td><b>{_signed(found.difference[i, j], 3)}</b></td></tr>"
        for i, j in ranked_cells(found)[:count]
    )
    head = column_heads(("from", "to", "left", "right", "right − left"))
    return scrolling_table("The largest differences here", head, lines, kind="lesson-table")


def numbers_html(found: Comparison, left: Side, right: Side) -> str:
    """Three tables: each side's weights and the difference, by the rows of the pictures."""
    labels = labels_of(found.alignment)
    return (
        matrix_table(found.difference, labels, labels, "Right minus left")
        + matrix_table(found.left, labels, labels, f"Left, {left.which.name}")
        + matrix_table(found.right, labels, labels, f"Right, {right.which.name}")
    )


def comparison_json(found: Comparison, left: Side, right: Side) -> str:
    """Both sides' weights and their difference as a JSON document; null where a side has no such word."""
    document: dict[str, Any] = {
        "what": "BERT's attention weights on two sides and right minus left: [query][key], in the order of rows",
        "rows": list(found.alignment.names),
        "special": list(labels_of(found.alignment).special),
        "by_word": found.alignment.by_word,
    }
    for name, side, weights in (("left", left, found.left), ("right", right, found.right)):
        encoding = side.run.encoding
        document[name] = {
            "title": side.title,
            "text": encoding.text,
            "text_pair": encoding.text_pair,
            "tokens": list(encoding.tokens),
            "layer": side.which.layer,
            "head": side.which.head,
            "attention": side.which.name,
            "weights": _nested(weights),
        }
    document["difference"] = _nested(found.difference)
    if found.heads is not None:
        document["moved"] = _nested(found.heads)  # the share of its attention that each head moved
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _nested(values: np.ndarray) -> list[list[float | None]]:
    return [[round(float(value), DIGITS) if np.isfinite(value) else None for value in row] for row in values]


def compare_code(left: Side, right: Side, specs: tuple[ModelSpec, ModelSpec], found: Comparison) -> str:
    """A program that prints the largest differences, with transformers alone.

    A model fine-tuned in the page has no public name: its folder is left to the reader.
    """
    sides = []
    needed = ""
    for which, side, spec in (("left", left, specs[0]), ("right", right, specs[1])):
        wanted, source = model_lines(spec)
        if " " in spec.key:  # one of this page's runs
            wanted, source = "", 'name, revision = "my-fine-tune", None  # the folder that you saved yours to'
        needed = needed or wanted
        sides.append(
            f"{source}\n{which} = attention(name, revision, {texts_of(side.run.encoding)}){_picked(side.which)}\n"
        )
    rows = "".join(
        f"    ({name!r}, {list(here.tokens)}, {list(there.tokens)}),\n"
        for name, (here, there) in zip(found.alignment.names, found.alignment.pairs, strict=True)
        if here and there
    )
    return f"""{needed}import torch
from transformers import AutoModel, AutoTokenizer


def attention(name, revision, *texts):
    tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
    model = AutoModel.from_pretrained(name, revision=revision, attn_implementation="eager").eval()
    inputs = tokenizer(*texts, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
    with torch.inference_mode():
        return torch.cat(model(**inputs, output_attentions=True).attentions)  # [layers, heads, tokens, tokens]


def between(weights, groups):
    \"\"\"To a word the sum over its pieces, from a word their mean.\"\"\"
    weights = torch.stack([weights[:, group].sum(dim=1) for group in groups], dim=1)
    return torch.stack([weights[group].mean(dim=0) for group in groups])


{"".join(sides)}
rows = [  # name, its tokens on the left, its tokens on the right
{rows}]
names, of_left, of_right = zip(*rows)
difference = between(right, of_right) - between(left, of_left)
for index in difference.abs().flatten().argsort(descending=True)[:10].tolist():
    i, j = divmod(index, len(names))
    print(f"from {{names[i]}} to {{names[j]}}: {{difference[i, j].item():+.3f}}")
"""


def _picked(which: Which) -> str:
    if which.layer is None:
        return ".mean(dim=(0, 1))"
    return f"[{which.layer}].mean(dim=0)" if which.head is None else f"[{which.layer}, {which.head}]"
