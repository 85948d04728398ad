"""A token's way to the first layer, drawn as strips: its row of the matrix, what is added, LayerNorm, all changes."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.input import InputLedger, Selection
from demos.bert.encoder.input_changed import Changes
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.cosine_heatmap import short
from demos.figures.figure.figure import Figure
from demos.figures.fonts.fonts import SMALL
from demos.figures.matrix import BAR, NAMED_COLUMNS, named_step
from demos.figures.numbers import scientific
from demos.figures.palette import PALETTE, colour_scale, inked, plotly_layout
from demos.figures.strips import Strip, strips_limit, strips_table
from demos.figures.tables import number_table
from demos.templates import plot_text, signed, templates
from demos.widgets.matrix_picture.figure import Matrix, board_html, equation

MOST_TOKENS = 40  # rows of the one-hot matrix that are drawn
TOKEN, HIGH, WIDE = 9, 170, 130  # pixels of a token, of all of them, and of d numbers
NAME = 14  # characters of a token in a label
NUMBERED = 18  # columns; with more, a cell is too narrow for its number
LABELLED = 60
CHANGE_NAMES = {
    "positions": "no positions",
    "segments": "no segments",
    "order": "words shuffled",
    "bag": "shuffled, no positions ¹",
}
OUTLINE = PALETTE["classes"][5]
TEXT = templates(__file__)


def selection_strips(selection: Selection, pieces: Sequence[str]) -> list[Strip]:
    """The rows around the chosen one behind the 0 or 1 they are multiplied by, and their sum; `pieces` are written."""
    strips = [
        (f"{int(number == selection.input_id)} × row {number:,} {short(piece, NAME)}", row)
        for number, piece, row in zip(selection.neighbours, pieces, selection.around, strict=True)
    ]
    return [*strips, ("= one-hot × matrix", selection.row)]


def one_hot_board(ledger: InputLedger, encoding: Encoding, vocabulary: int, token: int) -> Markup:
    """One-hot [n, V] times E [V, d], with the columns and rows of the ids that occur; the first tokens of many."""
    n = min(len(encoding), MOST_TOKENS)
    ids = encoding.input_ids[:n]
    occurring = sorted(set(ids))
    at = [occurring.index(number) for number in ids]
    tall, broad = (min(HIGH, TOKEN * size) for size in (n, len(occurring)))
    word = ledger.word[:n]
    limit = strips_limit([word])
    rows = [ids.index(number) for number in occurring]  # where each is looked up
    product = equation(
        Matrix("one-hot", np.eye(len(occurring))[at], "i", "w", (broad, tall), "magnitude", 1.0, (n, vocabulary)),
        "×",
        Matrix("E", word[rows], "w", "d", (WIDE, broad), limit=limit, shape=(vocabulary, word.shape[1])),
        "=",
        Matrix("word embeddings", word, "i", "d", (WIDE, tall), limit=limit),
    )
    row = min(token, n - 1)
    pieces = {number: short(encoding.tokens[ids.index(number)], NAME) for number in occurring}
    names = {
        "i": [short(piece, NAME) for piece in encoding.tokens[:n]],
        "w": [f"id {number:,}, {piece}" for number, piece in pieces.items()],
    }
    return board_html([product], names, {"i": row, "w": at[row]})


def sum_strips(ledger: InputLedger, encoding: Encoding, token: int) -> list[Strip]:
    """Word, segment and position embedding of one token, and their sum."""
    strips = [(f"word {short(encoding.tokens[token], NAME)}", ledger.word[token])]
    if ledger.segment is not None:
        strips.append((f"+ segment {encoding.token_type_ids[token]}", ledger.segment[token]))
    strips.append((f"+ position {token}", ledger.position[token]))
    return [*strips, ("= sum", ledger.total[token])]


def norm_strips(ledger: InputLedger, token: int) -> list[Strip]:
    """The steps of LayerNorm on one token's sum."""
    norm = ledger.norm
    return [
        ("(sum − mean) / std. deviation", norm.normalised[token]),
        ("× gain", norm.gain),
        ("+ offset", norm.offset),
        ("= into layer 1", norm.result[token]),
    ]


def changes_figure(changes: Changes, encoding: Encoding, token: int) -> Figure:
    """One row per change, one column per token (cosine of its final state before and after), last the tokens' mean.

    Colours run from 1, unmoved and pale, down to the lowest cosine. The chosen token's column is framed.
    """
    n = len(encoding)
    z = np.array([[*change.cosine, change.sentence] for change in changes.changes])  # [changes, n + 1]
    names = [CHANGE_NAMES[change.name] for change in changes.changes]
    tokens = [plot_text(short(token, NAME)) for token in encoding.tokens]
    columns = [*(f"{index} {token}" for index, token in enumerate(tokens)), "mean of all"]
    special = encoding.special_tokens_mask
    ticks = [f"<i>{token}</i>" if mark else token for token, mark in zip(tokens, special, strict=True)]
    ticks.append("<b>mean of all</b>")
    lowest = min(0.9, float(np.floor(z.min() * 10) / 10))
    few = n < NUMBERED
    heatmap = {
        "type": "heatmap",
        "x": columns,
        "y": names,
        "z": np.round(z, 6),
        "zmin": lowest,
        "zmax": 1,
        "colorscale": colour_scale("magnitude"),
        "reversescale": True,
        "text": [[_cell(value, lowest) for value in row] for row in z.tolist()] if few else None,
        "texttemplate": "%{text}" if few else None,
        "textfont": {"size": SMALL},
        "hovertemplate": "<b>%{x}</b>, %{y}<br>cosine, full and changed input: %{z:.4f}<extra></extra>",
        "xgap": 1 if n <= LABELLED else 0,
        "ygap": 3,
        "colorbar": BAR | {"nticks": 4, "tickformat": ".1f"},
    }
    margin = int(24 + 9 * max(12, *(len(short(name, NAME)) for name in encoding.tokens)))
    shown = [*range(0, n, named_step(n, NAMED_COLUMNS)), n]
    bare = {"showgrid": False, "ticks": ""}
    across = {"side": "top", "tickangle": -90, "tickfont": {"size": SMALL}, "ticklabelstandoff": 4}
    ticks_shown = {"tickvals": [columns[index] for index in shown], "ticktext": [ticks[index] for index in shown]}
    box = {"x0": token - 0.5, "x1": token + 0.5, "y0": -0.5, "y1": len(names) - 0.5}
    layout = plotly_layout(
        height=38 * len(names) + margin + 10,
        margin={"l": 190, "r": 10, "t": margin, "b": 10},
        xaxis=bare | across | ticks_shown,
        yaxis=bare | {"autorange": "reversed", "tickfont": {"size": 16}, "ticklabelstandoff": 6},
        shapes=[{"type": "rect", "line": {"color": OUTLINE, "width": 2}} | box],
    )
    return {"data": [heatmap], "layout": layout}


def _cell(cosine: float, lowest: float) -> str:
    """Its number in the ink that can be read on its colour."""
    return inked(signed(cosine, ".2f"), colour_scale("magnitude"), (1 - cosine) / (1 - lowest))


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
