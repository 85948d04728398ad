"""What bertviz's views are sent: weights as one byte each, and only what the browser does not hold yet.

bertviz writes each weight with 17 digits, the whole JSON twice, and a pair's four quarters once more. Here a weight is
round(255 w), in base64; assets/bertviz/frame.js unpacks it and cuts the quarters itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.bert.attention import QueriesKeys
from demos.bert.encoding import Encoding
from demos.bert.run import Run
from demos.figures.palette import HEADS, word_colour


@dataclass(frozen=True)
class View:
    """One of bertviz's views. `limit` is how many tokens it draws at most: beyond, the browser stops answering."""

    name: str
    title: str
    limit: int


VIEWS = {
    view.name: view
    for view in (View("head", "Head view", 128), View("model", "Model view", 64), View("neuron", "Neuron view", 64))
}


@dataclass(frozen=True)
class Held:
    """What a browser has already: layers of weights, and of queries and keys, of the input that `key` names."""

    key: str = ""
    weights: frozenset[int] = frozenset()
    vectors: frozenset[int] = frozenset()

    @classmethod
    def read(cls, said: str | None) -> Held:
        """What the browser says it has; nothing, where that makes no sense."""
        try:
            parts = json.loads(said or "{}")
            return cls(str(parts["key"]), frozenset(map(int, parts["weights"])), frozenset(map(int, parts["vectors"])))
        except (ValueError, KeyError, TypeError, OverflowError):
            return cls()

    def say(self) -> str:
        return json.dumps({"key": self.key, "weights": sorted(self.weights), "vectors": sorted(self.vectors)})


def frame_message(
    run: Run, view: View, layer: int, head: int, vectors: Callable[[int], QueriesKeys], held: Held
) -> tuple[dict[str, Any], Held]:
    """What the frame needs to show `view` at `layer` and `head`, and what the browser holds once it has it.

    The model view takes every layer; the others take them as they are asked for. `vectors(layer)` is called only
    where the neuron view needs a layer's queries and keys.
    """
    n = min(len(run.encoding), view.limit)
    key = hashlib.blake2b(
        json.dumps([run.model, run.encoding.text, run.encoding.text_pair, n]).encode(), digest_size=8
    ).hexdigest()
    if held.key != key:
        held = Held(key)
    layers = frozenset(range(run.num_layers) if view.name == "model" else [layer])
    with_vectors = layers if view.name == "neuron" else frozenset()
    message = {
        "view": view.name,
        "key": key,
        "layer": layer,
        "head": head,
        "num_layers": run.num_layers,
        "num_heads": run.num_heads,
        "tokens": list(run.encoding.tokens[:n]),
        "sentence_b_start": sentence_b_start(run.encoding, n),
        "special": list(run.encoding.special_tokens_mask[:n]),
        "hues": [word_colour(word) for word in run.encoding.word_index[:n]],
        "colours": HEADS,
        "weights": {str(i): pack_weights(run.attentions[i, :, :n, :n]) for i in sorted(layers - held.weights)},
        "vectors": {str(i): _pack_both(vectors(i), n) for i in sorted(with_vectors - held.vectors)},
    }
    return message, Held(key, held.weights | layers, held.vectors | with_vectors)


def sentence_b_start(encoding: Encoding, shown: int) -> int | None:
    """Where sentence B begins, or None without one among the first `shown` tokens."""
    start = encoding.sentence_b_start
    return start if start is not None and start < shown else None


def pack_weights(weights: np.ndarray) -> str:
    """Weights in 0..1 -> one byte each, round(255 w), base64; off by 1/510 = 0.00196 at most."""
    return base64.b64encode(np.rint(weights * 255).astype(np.uint8).tobytes()).decode()


def unpack_weights(packed: str, shape: Sequence[int]) -> np.ndarray:
    """What the frame makes of `pack_weights`: float [shape]."""
    return np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(shape) / 255


def pack_vectors(vectors: np.ndarray) -> dict[str, Any]:
    """[H, n, d_k] -> 16-bit whole numbers (little-endian, base64) and the scale that turns 32767 back, one a head.

    Two bytes and not one: the frame multiplies these, and shows the products.
    """
    scale = np.abs(vectors).max(axis=(1, 2)) / 32767  # [H]
    scale[scale == 0] = 1
    whole = np.rint(vectors / scale[:, None, None]).astype("<i2")
    return {"width": vectors.shape[-1], "scale": scale.tolist(), "data": base64.b64encode(whole.tobytes()).decode()}


def _pack_both(vectors: QueriesKeys, n: int) -> dict[str, Any]:
    return {"queries": pack_vectors(vectors.queries[:, :n]), "keys": pack_vectors(vectors.keys[:, :n])}


def unpack_vectors(packed: dict[str, Any], shape: Sequence[int]) -> np.ndarray:
    """What the frame makes of `pack_vectors`: float [H, n, d_k]."""
    whole = np.frombuffer(base64.b64decode(packed["data"]), dtype="<i2").reshape(shape)
    return whole * np.array(packed["scale"])[:, None, None]


def largest_error(weights: np.ndarray) -> float:
    """The furthest that any of these weights is moved by `pack_weights`."""
    return float(np.abs(unpack_weights(pack_weights(weights), weights.shape) - weights).max())


def told(run: Run, view: View) -> list[str]:
    """What an honest caption says of this drawing, one sentence each."""
    n = min(len(run.encoding), view.limit)
    said = []
    if n < len(run.encoding):
        said.append(
            f"Only the first {n} of {len(run.encoding)} tokens are drawn, so a row of weights may sum to less than 1."
        )
    error = largest_error(run.attentions[:, :, :n, :n])
    said.append(f"The lines are drawn from weights rounded to 1/255; the largest rounding error here is {error:.4f}.")
    if view.name == "head":
        said.append(
            "With h heads on, bertviz draws a line with 1/h of its weight; here it is the weight / h to the power 1/4, "
            "so that twelve heads at once can still be seen."
        )
    return said
