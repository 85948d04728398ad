"""The words and tables of "Heads for grammar": each relation's best head, and each pair with its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demos.bert.attention.grammar import Relation, Sentence, best_place
from demos.templates import templates

TEXT = templates(__file__)
# Clark et al. 2019 on BERT base: layer and head, from 1; its accuracy in percent; the best offset, where it is given,
# and its accuracy: table 1, section 4.3, and their Syntax_Analysis.ipynb (github.com/clarkkev/attention-analysis).
PUBLISHED: Mapping[str, tuple[int, int, float, int | None, float]] = {
    "subject": (8, 2, 58.5, 1, 45.5),
    "object": (8, 10, 86.8, -2, 40.0),
    "determiner": (8, 11, 94.3, 1, 51.7),
    "possessive": (7, 6, 80.5, 1, 47.7),
    "coreference": (5, 4, 65.1, None, 0.0),
}


def relations_html(relations: Mapping[str, Relation], chosen: str, direction: int, sentences: int) -> str:
    """One row for each relation: its best head, its held-out score, the best offset, and the figures of Clark et al."""
    selected = relations[chosen]
    rows = [(relation, relation.best, PUBLISHED[name]) for name, relation in relations.items()]
    best = best_place(selected.hits[direction : direction + 1])[1:]
    share = float(selected.accuracy[(direction, *best)])
    return TEXT.relations(rows, selected, direction, best, share, sentences)


def pairs_html(relation: Relation, direction: int, sentences: Sequence[Sentence]) -> str:
    """Each pair: the two words, and the word that the best head leads to."""
    _, layer, head = best_place(relation.hits[direction : direction + 1])
    attended = relation.predicted[direction, layer, head].tolist()
    rows = []
    for (number, dependent, governor), place in zip(relation.places, attended, strict=True):
        words = sentences[number].words
        start, right = (dependent, governor) if direction == 0 else (governor, dependent)
        rows.append((words[start], words[right], words[place], place == right, sentences[number].text))
    return TEXT.pairs(relation.name, layer, head, rows)
