"""The program of the part: beam search, written out."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside
from demos.lessons.translation.program_model import bundled_lines


def search_code(kind: str, source: Sequence[str], width: int, penalty: float) -> str:
    """A program that finds the translation that the page finds."""
    code = read_beside(__file__, "program.txt")
    values = {"WIDTH": str(width), "PENALTY": repr(penalty), "SOURCE": repr(" ".join(source))}
    for name, value in values.items():
        code = code.replace(name, value)
    return code.replace("BUNDLED\n", bundled_lines(kind))
