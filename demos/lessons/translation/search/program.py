"""The program of the part: beam search, written out."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside


def search_code(kind: str, source: Sequence[str], width: int, penalty: float) -> str:
    """A program that finds the translation that the page finds."""
    code = read_beside(__file__, "program.txt")
    values = {"KIND": repr(kind), "SOURCE": repr(" ".join(source)), "WIDTH": str(width), "PENALTY": repr(penalty)}
    for name, value in values.items():
        code = code.replace(name, value)
    return code
