"""The messages to bertviz's views if rows and columns may be of two texts: a decoder's output and its input."""

import json
from typing import Any

import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.files import Json
from demos.widgets.bertviz.messages import BrowserCache, drawing, key_of, pack_weights, side
from demos.widgets.bertviz.views import View


def two_texts_message(
    weights: np.ndarray,
    rows: Labels,
    columns: Labels,
    view: View,
    layer: int,
    head: int,
    cached: BrowserCache,
    **named: Any,
) -> tuple[Json, BrowserCache]:
    """The message that shows weights [L, A, m, n], and the parts that the browser holds once it has it.

    As `frame_message` of a run; there is no neuron view. `named`: `model` and `file`, for a picture that is taken away.
    """
    drawn = json.dumps([named, rows.names, columns.names, weights.shape]).encode("utf-8", "surrogatepass")
    key = key_of(drawn + weights.tobytes())
    cached = cached.of(key)
    num_layers, num_heads = weights.shape[:2]
    layers = frozenset(range(num_layers) if view.name == "model" else [layer])
    message = {
        **drawing(view.name, key, layer, head, (num_layers, num_heads)),
        "weights": {str(i): pack_weights(weights[i]) for i in sorted(layers - cached.weights)},
        "vectors": {},
        **_side(rows),
        **named,
    }
    if columns != rows:
        message["columns"] = _side(columns)
    return message, BrowserCache(key, cached.weights | layers, cached.vectors)


def _side(labels: Labels) -> Json:
    return side(labels.names, labels.special, labels.words)
