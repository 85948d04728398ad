"""The whole way of a sentence as one picture: a row a token, from its word piece to its last vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.attention.strongest import share_of, strongest_sources
from demos.bert.encoder.input import InputLedger
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.bert.model.run import Run
from demos.bert.pretraining.guesses import Guess
from demos.figures.cell_strip import cells, pictures, shades
from demos.figures.strips import strips_limit
from demos.figures.token_chips import hue, visible
from demos.templates import templates

TEXT = templates(__file__)
MAX_ROWS = 48  # tokens drawn
SOURCES = 3  # lines that end at each token in each layer
FAINTEST = 0.02  # of a token's weight of 1; weaker lines are not drawn
INPUT_CELLS, STATE_CELLS = 24, 16  # numbers drawn of each vector
VECTOR_CELLS = 96  # of the sentence's vector


@dataclass(frozen=True)
class HiddenWord:
    """What the model guesses where one token is hidden."""

    place: int
    token: str  # the token that stands there; [MASK] where the sentence has one
    best: tuple[Guess, ...]
    model: str


@dataclass(frozen=True)
class Classes:
    """What the reader's own classifier says of the sentence."""

    probabilities: dict[str, float]
    model: str


def rows_of(encoding: Encoding) -> int:
    """How many of the sentence's tokens the picture has."""
    return min(len(encoding), MAX_ROWS)


def overview_html(run: Run, ledger: InputLedger, spec: ModelSpec, chosen: int) -> Markup:
    """The stations from left to right; `chosen` is the token whose way is marked."""
    n, encoding = rows_of(run.encoding), run.encoding
    hues = [hue(word) for word in encoding.word_index]
    tokens = [
        {"text": visible(token), "id": number, "hue": kind, "name": "C" if place == 0 else f"T{place}"}
        for place, (token, number, kind) in enumerate(zip(encoding.tokens[:n], encoding.input_ids, hues, strict=False))
    ]
    special = [place for place, mark in enumerate(encoding.special_tokens_mask) if mark]
    sources, weights = strongest_sources(run.attentions[:, :, :n], SOURCES, special)
    layers = [
        {
            "lines": [
                {"source": int(source), "target": target, "weight": float(weight), "hue": hues[source]}
                for target in range(n)
                for source, weight in zip(sources[layer, target], weights[layer, target], strict=True)
                if weight >= FAINTEST and source < n
            ],
            "states": _column([run.hidden_states[layer + 1, :n]], STATE_CELLS),
        }
        for layer in range(run.num_layers)
    ]
    parts = [ledger.word, ledger.segment, ledger.position]
    inputs = _column([part[:n] for part in parts if part is not None], INPUT_CELLS)
    summed = _column([run.hidden_states[0, :n]], INPUT_CELLS)
    share = share_of(run.attentions, special)
    return TEXT.overview(tokens, inputs, summed, layers, spec, chosen, len(encoding) - n, share)


def exits_html(run: Run, hidden: HiddenWord | None, vector: np.ndarray, classes: Classes | None) -> Markup:
    """What the outputs are used for: the hidden word's guesses, the sentence's vector [d], a class."""
    shown = vector[:VECTOR_CELLS]
    strip = cells(shown, strips_limit([vector]), "mean of the token vectors")
    word = hue(run.encoding.word_index[hidden.place]) if hidden else ""
    return TEXT.exits(hidden, word, strip, len(vector), len(shown), len(run.encoding), classes)


def numbers_html(run: Run, ledger: InputLedger) -> Markup:
    """The picture as a table: the norms of each token's vectors, and where its strongest attention comes from."""
    n, tokens = rows_of(run.encoding), run.encoding.tokens
    sources, weights = strongest_sources(run.attentions[:, :, :n], 1)
    norms = np.linalg.norm(run.hidden_states, axis=-1)  # [L + 1, n]
    rows = [
        {
            "token": visible(tokens[at]),
            "input": float(np.linalg.norm(ledger.total[at])),
            "norms": norms[:, at].tolist(),
            "sources": [
                (visible(tokens[source]), float(weight))
                for source, weight in zip(sources[:, at, 0], weights[:, at, 0], strict=True)
            ],
        }
        for at in range(n)
    ]
    return TEXT.numbers(rows, run.num_layers)


def _column(vectors: list[np.ndarray], count: int) -> dict[str, str]:
    """Several vectors <float>[n, d] a token as one picture, `count` numbers wide, by theme the base64 of a PNG.

    A token has eight rows of pixels: its vectors, one under another, with an empty row above and below.
    """
    limit = strips_limit(vectors)
    n, height = len(vectors[0]), 6 // len(vectors)
    places = np.zeros((n, 8, count), dtype=int)
    drawn = np.zeros((n, 8, count), dtype=bool)
    for number, rows in enumerate(vectors):
        top = 1 + number * height
        places[:, top : top + height] = shades(rows[:, None, :count], limit)
        drawn[:, top : top + height] = True
    return pictures(places.reshape(n * 8, count), drawn.reshape(n * 8, count))
