"""The result of a part's `answer`: the correct answer for one reader's sentence and model."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    """The right answer, in the field that fits the kind of the question, and the facts that the reveal shows.

    `facts` are the values of the placeholders in the file's explanations. `mistakes` are the numbers that each
    misconception of a number question leads to, by its name in the file.
    """

    keys: frozenset[str] = frozenset()  # choice: the names of all answers that are right
    number: float | None = None
    tokens: frozenset[int] = frozenset()  # positions, [CLS] being 0
    facts: Mapping[str, object] = field(default_factory=dict)
    mistakes: Mapping[str, float] = field(default_factory=dict)
