"""What bertviz's views are sent where rows and columns may be of two texts: a decoder's, and what it reads."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.figures.palette import HEADS, word_colour
from demos.widgets.bertviz.messages import FAINTEST, Held, pack_weights
from demos.widgets.bertviz.views import View


def two_texts_message(
    weights: np.ndarray, rows: Labels, columns: Labels, view: View, layer: int, head: int, held: Held, **named: Any
) -> tuple[dict[str, Any], Held]:
    """What the frame needs to show weights [L, A, m, n], and what the browser holds once it has it.

    As `frame_message` of a run; there is no neuron view. `named`: `model` and `file`, for a picture that is taken away.
    """
    drawn = json.dumps([named, rows.names, columns.names, weights.shape]).encode("utf-8", "surrogatepass")
    key = hashlib.blake2b(drawn + weights.tobytes(), digest_size=8).hexdigest()
    if held.key != key:
        held = Held(key)
    num_layers, num_heads = weights.shape[:2]
    layers = frozenset(range(num_layers) if view.name == "model" else [layer])
    message = {
        "view": view.name,
        "key": key,
        "layer": layer,
        "head": head,
        "faintest": FAINTEST,
        "num_layers": num_layers,
        "num_heads": num_heads,
        "sentence_b_start": None,
        "colours": HEADS,
        "weights": {str(i): pack_weights(weights[i]) for i in sorted(layers - held.weights)},
        "vectors": {},
        **_side(rows),
        **named,
    }
    if columns != rows:
        message["columns"] = _side(columns)
    return message, Held(key, held.weights | layers, held.vectors)


def _side(labels: Labels) -> dict[str, Any]:
    """The tokens of one side, their hues, and which are special."""
    return {
        "tokens": list(labels.names),
        "special": list(labels.special),
        "hues": [word_colour(word) for word in labels.words],
    }
