"""The program of the part: the same translation by both stacks, with torch and safetensors alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside


def transformer_code(source: Sequence[str]) -> str:
    """A program that translates these words as the page does."""
    return read_beside(__file__, "program.txt").replace("SENTENCE", repr(" ".join(source)))
