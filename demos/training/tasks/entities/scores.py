"""Scores of found entities: whole spans with their types, as CoNLL-2003's script and seqeval count them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

Span = tuple[int, int, str]  # first word, one past the last, type
VERDICTS = ("right", "wrong type", "wrong border", "missed")


@dataclass(frozen=True)
class EntityScore:
    """Precision, recall and F1 of one type's entities, or of all; each 0 where it is 0/0."""

    name: str  # the type; "" for all together
    precision: float
    recall: float
    f1: float
    true: int  # entities that are there
    found: int  # entities that were answered
    hits: int  # answered with the right words and the right type

    @classmethod
    def of(cls, name: str, true: int, predicted: int, hits: int) -> Self:
        """From the counts: P = hits / predicted, R = hits / true, F1 = 2 hits / (predicted + true)."""
        f1 = 2 * hits / (predicted + true) if predicted + true else 0.0
        return cls(
            name, hits / predicted if predicted else 0.0, hits / true if true else 0.0, f1, true, predicted, hits
        )


@dataclass(frozen=True)
class EntityScores:
    """All entities together (micro average), and each type's."""

    total: EntityScore
    types: tuple[EntityScore, ...]


@dataclass(frozen=True)
class Ways:
    """The fates of one type's true entities (the first four), and the number found where none is."""

    name: str
    right: int  # same words, same type
    wrong_type: int  # same words, another type
    wrong_border: int  # other words, some shared with a found entity; its type may be wrong as well
    missed: int  # no word is shared with a found entity
    invented: int  # found entities of this type that share no word with a true one


def types_of(labels: Sequence[str]) -> tuple[str, ...]:
    """The entities' types, in the order of the labels."""
    return tuple(label.removeprefix("B-") for label in labels if label.startswith("B-"))


def spans_of(tags: Sequence[str], strict: bool = False) -> list[Span]:
    """The entities of one sentence's BIO tags, in order.

    An I- with no entity of its type before it begins one, as in CoNLL-2003's own script and seqeval's default. With
    `strict` (seqeval's mode="strict", scheme=IOB2) it is none: only B- begins an entity.
    """
    spans: list[Span] = []
    start, kind = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if kind and not (prefix == "I" and name == kind):
            spans.append((start, place, kind))
            kind = ""
        if prefix == "B" or (prefix == "I" and not kind and not strict):
            start, kind = place, name
    return spans


def score_entities(
    true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], types: Sequence[str], strict: bool = False
) -> EntityScores:
    """Sentences' true and predicted BIO tags -> precision, recall and F1 over whole entities (Tjong Kim Sang 2003).

    Equal to seqeval's `classification_report`: its "micro avg" and its rows.
    """
    counts = {kind: [0, 0, 0] for kind in types}  # true, found, hits
    for truth, guess in zip(true, predicted, strict=True):
        there, answered = set(spans_of(truth, strict)), set(spans_of(guess, strict))
        for number, spans in enumerate((there, answered, there & answered)):
            for *_, kind in spans:
                counts[kind][number] += 1
    total = EntityScore.of("", *(sum(row[number] for row in counts.values()) for number in range(3)))
    return EntityScores(total, tuple(EntityScore.of(kind, *row) for kind, row in counts.items()))


def ways_of(
    true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], types: Sequence[str]
) -> tuple[Ways, ...]:
    """The fates of each type's entities: each true one is counted once, each found one that touches none once."""
    counts = {kind: [0] * 5 for kind in types}
    for truth, guess in zip(true, predicted, strict=True):
        there, answered = spans_of(truth), spans_of(guess)
        for span in there:
            counts[span[2]][VERDICTS.index(verdict_of(span, answered))] += 1
        for span in answered:
            counts[span[2]][4] += verdict_of(span, there) == "missed"
    return tuple(Ways(kind, *row) for kind, row in counts.items())


def verdict_of(span: Span, others: Sequence[Span]) -> str:
    """The fate of an entity among the other side's: one of VERDICTS. A found one that is "missed" is invented."""
    touching = [other for other in others if span[0] < other[1] and other[0] < span[1]]
    if span in touching:
        return VERDICTS[0]
    if any(span[:2] == other[:2] for other in touching):
        return VERDICTS[1]
    return VERDICTS[2] if touching else VERDICTS[3]
