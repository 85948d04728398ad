"""The messages to bertviz's views: weights as one byte each, and only the parts that the browser does not hold yet.

bertviz writes each weight with 17 digits, the whole JSON twice, and a pair's four quarters once more. Here a weight is
round(255 w), in base64; assets/bertviz/unpack.js unpacks it and cuts the quarters itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from demos.bert.attention.contributions import WEIGHT, Measured
from demos.bert.attention.queries_keys import QueriesKeys
from demos.bert.model.run import Run
from demos.figures.palette import HEADS, word_colour
from demos.files import Json
from demos.widgets.bertviz.views import View

# No line is drawn for a smaller weight. A line's opacity is its weight at most (one head alone), and a hundredth of
# black on white is under three of a screen's 255 steps: the eye can't follow such a line, yet a browser pays for it.
FAINTEST = 0.01
HEADS_TOGETHER = (
    "When h heads are shown, bertviz draws a line with opacity {what} / h. Here the opacity is {what} / h^(1/4), so "
    "that the lines of twelve heads stay visible."
)
NORMS = (
    "A line's opacity is the contribution's share of the sum of norms in its row: the norms themselves do not sum to 1."
)
NEURONS = "The neuron view always shows weights: they alone come from queries and keys."


class PackedVectors(TypedDict):
    width: int
    scale: list[float]
    data: str


@dataclass(frozen=True)
class BrowserCache:
    """The parts that a browser holds already: layers of weights, and of queries and keys, of the input that `key`
    names.
    """

    key: str = ""
    weights: frozenset[int] = frozenset()
    vectors: frozenset[int] = frozenset()

    @classmethod
    def read(cls, text: str | None) -> BrowserCache:
        """The parts that the browser says it holds; none if that makes no sense."""
        try:
            parts = json.loads(text or "{}")
            return cls(str(parts["key"]), frozenset(map(int, parts["weights"])), frozenset(map(int, parts["vectors"])))
        except (ValueError, KeyError, TypeError, OverflowError):
            return cls()

    def of(self, key: str) -> BrowserCache:
        """The held parts of the input that `key` names: all or none."""
        return self if self.key == key else BrowserCache(key)

    def say(self) -> str:
        return json.dumps({"key": self.key, "weights": sorted(self.weights), "vectors": sorted(self.vectors)})


def frame_message(
    run: Run,
    view: View,
    layer: int,
    head: int,
    vectors: Callable[[int], QueriesKeys],
    by: Measured | None = None,
) -> Json:
    """The message that shows `view` at `layer` and `head`, for a browser that holds nothing yet (`left_out`).

    The model view takes every layer, the other views only `layer`. `vectors(layer)` is called only if the neuron view
    needs a layer's queries and keys. `by` contribution, lines show the rows' shares (`in_lines`).
    """
    n, by = min(len(run.encoding), view.limit), in_lines(run, view.name, by)
    message = describe(run, view.name, n, layer, head, by.measure)
    layers = range(run.num_layers) if view.name == "model" else [layer]
    message["weights"] = {str(i): pack_weights(by.shares(i)[:, :n, :n]) for i in layers}
    message["vectors"] = {str(i): pack_both(vectors(i), n) for i in layers if view.name == "neuron"}
    return message


def left_out(message: Json, cached: BrowserCache) -> tuple[Json, BrowserCache]:
    """(the message without the numbers that the browser has, what it holds once it has the message)."""
    cached = cached.of(message["key"])
    known = {"weights": cached.weights, "vectors": cached.vectors}
    sent = {name: {i: of for i, of in message[name].items() if int(i) not in known[name]} for name in known}
    then = [known[name] | set(map(int, message[name])) for name in known]
    return message | sent, BrowserCache(cached.key, *then)


def in_lines(run: Run, view: str, by: Measured | None) -> Measured:
    """The values that a view's lines show:

    `by`, but weights in the neuron view, whose queries and keys give nothing else.
    """
    return Measured(run) if by is None or view == "neuron" else by


def describe(run: Run, view: str, n: int, layer: int, head: int, measure: str = WEIGHT) -> Json:
    """All that the frame needs to know of a run's first `n` tokens but the numbers themselves."""
    drawn = json.dumps([run.model, run.encoding.text, run.encoding.text_pair, n, measure])
    encoding, start = run.encoding, run.encoding.sentence_b_start
    return {
        **drawing(view, key_of(drawn.encode()), layer, head, (run.num_layers, run.num_heads)),
        "sentence_b_start": start if start is not None and start < n else None,
        **side(encoding.tokens[:n], encoding.special_tokens_mask[:n], encoding.word_index[:n]),
    }


def key_of(drawn: bytes) -> str:
    """The drawing's name, for the browser that holds its numbers."""
    return hashlib.blake2b(drawn, digest_size=8).hexdigest()


def drawing(view: str, key: str, layer: int, head: int, size: tuple[int, int]) -> Json:
    """The common fields of all messages: the view, the numbers of layers and heads, and their hues."""
    num_layers, num_heads = size
    return {
        "view": view,
        "key": key,
        "layer": layer,
        "head": head,
        "faintest": FAINTEST,
        "num_layers": num_layers,
        "num_heads": num_heads,
        "sentence_b_start": None,
        "colours": HEADS,
    }


def side(names: Sequence[str], special: Sequence[int | bool], words: Sequence[int | None]) -> Json:
    """The tokens of one side, which are special, and the hues of their words."""
    return {"tokens": list(names), "special": list(special), "hues": [word_colour(word) for word in words]}


def pack_weights(weights: np.ndarray) -> str:
    """Weights in 0..1 -> one byte each, round(255 w), base64; off by 1/510 = 0.00196 at most."""
    return base64.b64encode(np.rint(weights * 255).astype(np.uint8).tobytes()).decode()


def pack_vectors(vectors: np.ndarray) -> PackedVectors:
    """[A, n, d_k] -> 16-bit whole numbers (little-endian, base64) and the scale that turns 32767 back, one a head.

    Two bytes and not one: the frame multiplies these, and shows the products.
    """
    scale = np.abs(vectors).max(axis=(1, 2)) / 32767  # [A]
    scale[scale == 0] = 1
    whole = np.rint(vectors / scale[:, None, None]).astype("<i2")
    return {"width": vectors.shape[-1], "scale": scale.tolist(), "data": base64.b64encode(whole.tobytes()).decode()}


def pack_both(vectors: QueriesKeys, n: int) -> dict[str, PackedVectors]:
    """A layer's queries and keys of the first `n` tokens."""
    return {"queries": pack_vectors(vectors.queries[:, :n]), "keys": pack_vectors(vectors.keys[:, :n])}


def largest_error(weights: np.ndarray) -> float:
    """The furthest that any of these weights is moved by `pack_weights`."""
    return float(np.abs(np.rint(weights * 255) / 255 - weights).max())


@dataclass(frozen=True)
class LeftOut:
    """The losses of a drawing: the share of lines that are too faint, of all attention in them, and the rounding."""

    lines: float
    attention: float
    rounding: float

    @classmethod
    def of(cls, weights: np.ndarray) -> LeftOut:
        """From the weights [L, A, n, n] that are drawn."""
        faint = weights < FAINTEST
        return cls(float(faint.mean()), float(weights[faint].sum() / weights.sum()), largest_error(weights))


def caption(
    run: Run, view: View, n: int | None = None, left_out: LeftOut | None = None, by: Measured | None = None
) -> list[str]:
    """The sentences of an honest caption for this drawing.

    `n` is how many tokens are drawn where that is not the view's limit; `left_out` spares measuring it again.
    """
    n = n or min(len(run.encoding), view.limit)
    by, requested = in_lines(run, view.name, by), by
    norms = by.measure != WEIGHT
    what, whole = ("share", "contributions") if norms else ("weight", "attention")
    left_out = left_out or LeftOut.of(first_tokens(by, n))
    cut = (
        f"Only the first {n} of {len(run.encoding)} tokens are drawn, so the {what}s shown for a token may sum "
        "to less than 1."
    )
    return [
        *([NORMS] if norms else [NEURONS] if requested and requested.measure != WEIGHT else []),
        *([cut] if n < len(run.encoding) else []),
        f"Lines for {what}s below {FAINTEST} would be invisible and are not drawn. Over all layers and heads, "
        f"{left_out.lines:.0%} of the lines are left out in this way, with {left_out.attention:.0%} of all {whole}.",
        f"{what.capitalize()}s are rounded to multiples of 1/255 for drawing; the largest rounding error here is "
        f"{left_out.rounding:.4f}.",
        *([HEADS_TOGETHER.format(what=what)] if view.name == "head" else []),
    ]


def first_tokens(by: Measured, n: int) -> np.ndarray:
    """All layers' shares among the first `n` tokens, which lines show: <float32>[L, A, n, n]."""
    return np.stack([by.shares(layer)[:, :n, :n] for layer in range(by.run.num_layers)])
