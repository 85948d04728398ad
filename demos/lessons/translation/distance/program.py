"""The program of the part: the gradient's norm at each word, in the GRU with attention and in the Transformer."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.translation.translators import TRANSFORMER
from demos.files import read_beside
from demos.lessons.translation.program_model import bundled_lines


def gradients_code(source: Sequence[str]) -> str:
    """A program that prints the norms that the page shows."""
    code = read_beside(__file__, "program.txt").replace("SOURCE", repr(" ".join(source)))
    _, _, transformer = bundled_lines(TRANSFORMER).partition("\n\n")  # without its imports, which are above
    return code.replace("GRU\n", bundled_lines("additive")).replace("TRANSFORMER\n", transformer)
