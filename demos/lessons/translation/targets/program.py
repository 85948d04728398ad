"""The programs of the part: the cost at each position."""

from __future__ import annotations

from collections.abc import Sequence

from demos.files import read_beside
from demos.lessons.translation.program_model import bundled_lines


def targets_code(kind: str, source: Sequence[str], target: Sequence[str]) -> str:
    """A program that prints the costs that the page shows after training."""
    code = read_beside(__file__, "program.txt")
    for name, words in {"SOURCE": source, "TARGET": target}.items():
        code = code.replace(name, repr(" ".join(words)))
    return code.replace("BUNDLED\n", bundled_lines(kind, "from torch.nn.functional import cross_entropy"))


def six_words_code(steps: int) -> str:
    """A program that trains the layer of six words for so many steps, and prints what each place costs then."""
    return read_beside(__file__, "program_six_words.txt").replace("STEPS", str(steps))
