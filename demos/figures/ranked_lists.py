"""Ranked lists side by side, a line from each sentence to itself in the next list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.search import ranks
from demos.figures.palette import TOPICS
from demos.templates import templates

TEXT = templates(__file__, "text_ranked_lists.html")
FAR = 3  # places; a sentence whose rank in the other list differs by this number is marked


@dataclass(frozen=True)
class Hit:
    """One place of a list."""

    key: int  # the same sentence has the same key in every list
    sentence: str
    score: float
    elsewhere: str = ""  # its rank in the list it is compared with: "B 14"
    moved: bool = False  # whether that is worth a look
    tag: str = ""  # its topic, or its number
    hue: str = "var(--line)"  # the tag's colour, CSS
    shared: frozenset[tuple[int, int]] = frozenset()  # characters [start, end) that the query has too

    @property
    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The sentence in pieces, each with whether the query has it too."""
        end = 0
        for start, stop in sorted(self.shared):
            yield self.sentence[end:start], False
            yield self.sentence[start:stop], True
            end = stop
        yield self.sentence[end:], False


@dataclass(frozen=True)
class Ranking:
    """One list: its name, the text above it, its hits, best first."""

    name: str
    above: Markup
    hits: Sequence[Hit]
    empty: str = ""  # what to say after the last hit, where a place stays empty
    largest: float = 1.0  # the largest score that there can be: a full bar


def topic_hues(topics: Sequence[str]) -> dict[str, str]:
    """A colour for each topic, by the alphabet; the same as on the map."""
    return {topic: TOPICS[k % len(TOPICS)] for k, topic in enumerate(sorted(set(topics)))}


def hits_of(
    shown: Sequence[int],
    scores: np.ndarray,
    other: tuple[str, np.ndarray],
    sentences: Sequence[str],
    topics: Sequence[str],
    shared: Sequence[frozenset[tuple[int, int]]] = (),
) -> list[Hit]:
    """The sentences numbered `shown`, with their scores of [m] and their ranks by another list's: (its letter, [m]).

    `topics` may be none; `shared`, one a sentence, are the characters that the query has too.
    """
    letter, own, elsewhere, hues = other[0], ranks(scores), ranks(other[1]), topic_hues(topics)
    return [
        Hit(
            key=at,
            sentence=sentences[at],
            score=float(scores[at]),
            elsewhere=f"{letter} {elsewhere[at]}",
            moved=abs(int(elsewhere[at]) - int(own[at])) >= FAR,
            tag=topics[at] if topics else "",
            hue=hues[topics[at]] if topics else "",
            shared=shared[at] if shared else frozenset(),
        )
        for at in shown
    ]


def ranked_html(lists: Sequence[Ranking], rows: int) -> Markup:
    """The lists as columns of `rows` places each; lines join the places of a sentence in neighbouring lists."""
    columns = []
    for number, ranking in enumerate(lists):
        places = {hit.key: place for place, hit in enumerate(ranking.hits)}
        left = lists[number - 1].hits if number else []
        lines = [(place, places[hit.key], hit.moved) for place, hit in enumerate(left) if hit.key in places]
        columns.append((ranking, lines))
    return TEXT.ranked(columns, rows)
