"""How one kind of task looks on the Fine-tune page: its data, its scores, its mistakes, an answer of its model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

Looks = Sequence[Sequence[float | None]]  # step, training loss (None at 0), validation loss, validation score


@dataclass(frozen=True)
class TaskView:
    """A task's pictures and words; all HTML is escaped. `lab_*.py` hold one each."""

    told: Callable[[Any, Any], str]  # (data set, tokenizer): what the data looks like, a few examples cut by it
    scores: Callable[[Any, bool], str]  # (outcome, whether it was stopped early): the scores beside the baseline
    figure: Callable[[Any], go.Figure]  # (outcome): what it takes for what
    mistakes: Callable[[Any], str]  # (outcome): the test examples it gets wrong
    numbers: Callable[[Any, Looks, int], str]  # (outcome, looks, steps an epoch): the tables behind the pictures
    answer: Callable[[Any, Any, Sequence[str]], str]  # (task, its answer, what the boxes hold): the try-it box's answer
    boxes: tuple[tuple[str, str], ...]  # the try-it boxes: (label, sample text)
    cut: bool = True  # whether `told` shows tokens
