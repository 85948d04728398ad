"""The program of the ready models: the same answers with transformers, torch and safetensors alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside


def ready_code(lines: Sequence[str], question: str) -> str:
    """Prints the answers about these lines; runs in the folder of Inside BERT, where the adapters lie."""
    program = read_beside(__file__, "program.txt").replace("LINES", repr(list(lines)))
    return program.replace("QUESTION", repr(question))
