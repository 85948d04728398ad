"""The program of the part: a word's vector by the small ELMo in two sentences, with torch and safetensors alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demos.files import read_beside


def elmo_code(
    first: Sequence[str], second: Sequence[str], places: Sequence[int], shares: np.ndarray, norm: bool
) -> str:
    """A program that computes what the page shows of these two sentences."""
    values = {
        "FIRST": (list(first), places[0]),
        "SECOND": (list(second), places[1]),
        "NORM": norm,
        "SHARES": [round(share, 6) for share in shares.tolist()],
    }
    program = read_beside(__file__, "program.txt")
    for name, value in values.items():
        program = program.replace(name, repr(value))
    return program
