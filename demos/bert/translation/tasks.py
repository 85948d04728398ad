"""The tasks of a translator's training: English to French, or dates in words to ISO 8601."""

from collections.abc import Callable
from dataclasses import dataclass

from demos.bert.translation import dates, grammar
from demos.bert.translation.grammar import Pair


@dataclass(frozen=True)
class Task:
    """A source of pairs; the first ones are held out."""

    sentences: Callable[[int, int], list[Pair]]  # (count, seed)
    example: Callable[[], Pair]
    held_out: Callable[[], tuple[Pair, ...]]


FRENCH, DATES = "french", "dates"
TASKS = {
    FRENCH: Task(grammar.sentences, grammar.example, grammar.held_out),
    DATES: Task(dates.sentences, dates.example, dates.held_out),
}
