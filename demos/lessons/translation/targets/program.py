"""The programs of the part: what each place costs."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside


def targets_code(kind: str, source: Sequence[str], target: Sequence[str]) -> str:
    """A program that prints the costs that the page shows after training."""
    code = read_beside(__file__, "program.txt")
    values = {"KIND": repr(kind), "SOURCE": repr(" ".join(source)), "TARGET": repr(" ".join(target))}
    for name, value in values.items():
        code = code.replace(name, value)
    return code


def six_words_code(steps: int) -> str:
    """A program that trains the layer of six words for so many steps, and prints what each place costs then."""
    return read_beside(__file__, "program_six_words.txt").replace("STEPS", str(steps))
