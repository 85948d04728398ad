"""What bertviz's frame makes of what it is sent (assets/bertviz/unpack.js, in Python)."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np


def unpack_weights(packed: str, shape: Sequence[int]) -> np.ndarray:
    """Of `pack_weights`: float [shape]."""
    return np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(shape) / 255


def unpack_vectors(packed: dict[str, Any], shape: Sequence[int]) -> np.ndarray:
    """Of `pack_vectors`: float [H, n, d_k]."""
    whole = np.frombuffer(base64.b64decode(packed["data"]), dtype="<i2").reshape(shape)
    return whole * np.array(packed["scale"])[:, None, None]
