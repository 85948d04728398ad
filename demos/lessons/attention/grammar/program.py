"""The program of the part: every head's accuracy at one relation, with transformers and numpy alone."""

from __future__ import annotations

from collections.abc import Sequence

from demos.bert.attention.grammar import Relation, Sentence
from demos.bert.model.catalogue import UNIGRAM, ModelSpec
from demos.figures.program import model_lines
from demos.files import read_beside

MARKS = """\
    letters = [any(map(str.isalnum, name)) for name in inputs.tokens()]  # a punctuation mark is a separate word
    begins = [i for i in range(1, len(word_of)) if word_of[i] is not None and (word_of[i] != word_of[i - 1] or (
        letters[i] != letters[i - 1] and inputs.tokens()[i - 1] != "▁"))]
    word_of = [None if word is None else sum(at <= i for at in begins) - 1 for i, word in enumerate(word_of)]
"""


def grammar_code(spec: ModelSpec, relation: Relation, direction: int, sentences: Sequence[Sentence]) -> str:
    """Prints the accuracies of the relation in this direction, one row per layer."""
    needed, source = model_lines(spec)
    lines: list[str] = []
    for number, sentence in enumerate(sentences):
        pairs = [(a, b) if direction == 0 else (b, a) for at, a, b in relation.places if at == number]
        if pairs:
            lines.append(f"    ({sentence.text!r}, {pairs}),")
    program = read_beside(__file__, "program.txt")
    filled = {"IMPORTS": needed, "SOURCE": source, "PAIRS": "\n".join(lines), "RELATION": relation.name}
    filled["MARKS"] = MARKS if spec.architecture in UNIGRAM else ""
    for name, value in filled.items():
        program = program.replace(f"<{name}>", value)
    return program
