"""The program of packed spans: the same rule with a tokenizer and NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines
from demos.files import read_beside

PROGRAM = read_beside(__file__, "program.txt")


def spans_code(spec: ModelSpec, sentences: Sequence[str], length: int, seed: int) -> str:
    """Prints each example's spans; it reads the other texts from a file of Inside BERT."""
    needed, source = model_lines(spec)
    listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return PROGRAM.format(needed=needed, source=source, sentences=listed, length=length, seed=seed)
