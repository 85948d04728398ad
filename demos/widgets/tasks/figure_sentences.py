"""One sentence or two on the Fine-tune page: the tables of training_told, and a pair as the one sequence that it is."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from demos.figures.confusion import confusion_figure
from demos.figures.scores_text import chances_html, dataset_html, mistakes_html, numbers_html, scores_html
from demos.training.events import Result
from demos.training.tasks.classification.data import Dataset
from demos.widgets.tasks.figure import Looks, TaskView
from demos.widgets.tasks.figure_example_tokens import calibration_table, encoded, segment_chips

SHORT = 70  # characters: a pair is shown that is about so long


def sentences_told(dataset: Dataset, tokenizer: Any) -> str:
    """The classes; nothing is cut."""
    return dataset_html(dataset)


def pairs_told(dataset: Dataset, tokenizer: Any) -> str:
    """The classes, and one training pair as BERT reads it: two segments of one sequence."""
    one = min(dataset.train, key=lambda example: abs(len(example.text) + len(example.pair) - SHORT))
    encoding = encoded(one.text, one.pair, tokenizer)
    rows = "".join(
        f'<div><span class="segment">segment {segment}</span>'
        f"{segment_chips(encoding, segment, f'Segment {segment} of the pair')}</div>"
        for segment in (0, 1)
    )
    label = html.escape(dataset.labels[one.label])
    return (
        f"{dataset_html(dataset)}<p>One of them ({label}) as BERT reads it: one sequence, two segments, one vector for "
        f'both.</p><div class="sequences pair small">{rows}</div>'
    )


def numbers(result: Result, looks: Looks, per_epoch: int) -> str:
    """Every look, each class's scores, the calibration."""
    return numbers_html(result, looks, per_epoch) + calibration_table(result.calibration)


def answer(task: Any, chances: Sequence[float], boxes: Sequence[str]) -> str:
    """The trained model's probabilities for a person's own sentence, or two."""
    return chances_html(dict(zip(task.labels, chances, strict=True)), task.labels, " / ".join(filter(None, boxes)))


VIEW = TaskView(
    told=sentences_told,
    scores=scores_html,
    figure=confusion_figure,
    mistakes=mistakes_html,
    numbers=numbers,
    answer=answer,
    boxes=(("A sentence of your own", "I can't believe you remembered!"),),
    cut=False,
)
PAIR_VIEW = TaskView(
    told=pairs_told,
    scores=scores_html,
    figure=confusion_figure,
    mistakes=mistakes_html,
    numbers=numbers,
    answer=answer,
    boxes=(
        ("A sentence", "The shop closes at six on Sundays."),
        ("A second one", "On Sundays you can buy things there until six o'clock."),
    ),
)
