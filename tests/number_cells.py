"""The numbers that a strip or a matrix of cells holds (demos/figures/cell_strip.py)."""

from __future__ import annotations

import base64

import numpy as np


def numbers(values: str) -> np.ndarray:
    """What stands in `data-values`, row by row."""
    return np.frombuffer(base64.b64decode(values), np.float32)
