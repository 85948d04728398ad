"""The program of the part: every head's accuracy at one relation, with transformers and numpy alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.attention.grammar import Relation, Sentence
from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines
from demos.files import read_beside


def grammar_code(spec: ModelSpec, relation: Relation, direction: int, sentences: Sequence[Sentence]) -> str:
    """Prints the accuracies of the relation in this direction, a row a layer."""
    needed, source = model_lines(spec)
    lines: list[str] = []
    for number, sentence in enumerate(sentences):
        pairs = [(a, b) if direction == 0 else (b, a) for at, a, b in relation.places if at == number]
        if pairs:
            lines.append(f"    ({sentence.text!r}, {pairs}),")
    program = read_beside(__file__, "program.txt")
    filled = {"IMPORTS": needed, "SOURCE": source, "PAIRS": "\n".join(lines), "RELATION": relation.name}
    for name, value in filled.items():
        program = program.replace(f"<{name}>", value)
    return program
