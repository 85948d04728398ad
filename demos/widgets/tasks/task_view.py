"""The interface of a task for the page: its words, its pictures, its try-it boxes, and the examples watched in
training.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from demos.widgets.live_curve.live_curve import Watcher

Looks = Sequence[Sequence[float | None]]  # step, training loss (None at 0), validation loss, validation score
WATCHED_LENGTH = 120  # characters of an example that is watched


class TaskView(ABC):
    """One task on the page. What is called an outcome is the task's own result; what returns text returns HTML."""

    kind: ClassVar[str]
    order: ClassVar[int]  # its place among the tasks on the page
    word: ClassVar[str]
    scheme: ClassVar[str]  # BERT's output in this task, in a few words
    boxes: ClassVar[tuple[tuple[str, str], ...]]  # the try-it boxes: (label, sample text)
    cut: ClassVar[bool] = True  # whether `data` shows tokens

    @abstractmethod
    def data(self, dataset: Any, tokenizer: Any) -> str:
        """The data: a few examples cut by the tokenizer."""

    @abstractmethod
    def scores(self, outcome: Any, stopped: bool, /) -> str:
        """The scores beside the baseline; `stopped` where the training was stopped early."""

    @abstractmethod
    def figure(self, outcome: Any, /) -> Any:
        """The confusions of the model."""

    @abstractmethod
    def mistakes(self, outcome: Any, /) -> str:
        """The test examples it gets wrong, the surest first."""

    @abstractmethod
    def numbers(self, outcome: Any, looks: Looks, per_epoch: int) -> str:
        """The tables behind the pictures."""

    @abstractmethod
    def example_of(self, boxes: Sequence[str]) -> Any:
        """The contents of the try-it boxes, as an example. Raises UserError."""

    @abstractmethod
    def answer(self, task: Any, answer: Any, boxes: Sequence[str]) -> str:
        """The trained model's answer to what the try-it boxes hold. Raises UserError."""

    @abstractmethod
    def in_words(self, task: Any, answer: Any, boxes: Sequence[str]) -> str:
        """The answer as one line of plain text, to be compared with the correct one: a class, a span, the names."""

    def agrees(self, said: str, correct: str) -> bool:
        """Whether an answer in words is the correct one."""
        return said == correct

    @abstractmethod
    def watcher(self, dataset: Any) -> Watcher | None:
        """The view of a few watched validation examples during training; None where there are no classes."""
