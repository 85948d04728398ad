"""The program of a cloze prompt: plain transformers."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.cloze import Solved, solved_lines
from demos.files import read_beside
from demos.lessons.pretraining.program_lines import begin_lines

PROGRAM = read_beside(__file__, "program.txt")


def cloze_code(spec: ModelSpec, text: str, solved: Sequence[Solved], pattern: str, label_words: tuple[str, str]) -> str:
    """Prints both words' probabilities with and without the text. `spec` is the encoder's, as in `Pretrained`."""
    examples = " ".join(solved_lines(solved, pattern, label_words))
    return PROGRAM.format(
        begin=begin_lines(spec), examples=examples, text=text, pattern=pattern, label_words=list(label_words)
    )
