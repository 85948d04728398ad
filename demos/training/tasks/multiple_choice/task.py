"""Task: which of several endings fits, each encoded as a separate sequence, one vector V to score them with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import nn

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.splits import Splits
from demos.training.events import Outcome
from demos.training.metrics import Calibration
from demos.training.settings import Settings
from demos.training.tasks.heads import head_fields
from demos.training.tasks.multiple_choice.data import LETTERS, MAX_ENDINGS, MIN_ENDINGS, ChoiceDataset, ChoiceExample
from demos.training.tasks.one_of_several import OneOfSeveral, likeliest, surest_first
from demos.training.tasks.task import Answers, Batch, Ended, Features, pair_ids


@dataclass(frozen=True)
class ChoiceMistake(ChoiceExample):
    """A test item whose right ending the trained model does not take."""

    predicted: int  # the place of the one that it takes
    probabilities: tuple[float, ...]  # of each ending


@dataclass(frozen=True)
class ChoiceResult(Outcome):
    """The trained model's accuracy among k endings."""

    labels: tuple[str, ...]  # the endings' letters: [k]
    accuracy: float
    majority_label: str  # the place that is most often right in the training items
    majority_accuracy: float
    margins: tuple[float, ...]  # [m]: the right ending's probability less the best wrong one's
    mistakes: tuple[ChoiceMistake, ...]  # the most confident first
    answers: tuple[tuple[float, ...], ...] = ()  # [m][k]: each test item's probabilities, in the data set's order
    calibration: Calibration | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """The accuracy: which place is right means nothing, so there is no class to take a mean over."""
        return {"accuracy": self.accuracy}


@dataclass(frozen=True)
class MultipleChoice(OneOfSeveral):
    """k sequences an item; V · C_i, its score, is softmaxed over the k (Devlin et al. 2019, section 4.4)."""

    kind: ClassVar[str] = "choice"
    data: ClassVar[type[Splits]] = ChoiceDataset
    choices: int

    @classmethod
    def of(cls, dataset: ChoiceDataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        return cls(dataset.choices, pooling=settings.pooling, **head_fields(settings))

    @property
    def labels(self) -> tuple[str, ...]:
        """The endings' places as letters."""
        return tuple(LETTERS[: self.choices])

    @property
    def outputs(self) -> int:
        """One number a sequence."""
        return 1

    def as_text(self, example: ChoiceExample, name: str) -> tuple[str, str]:
        """Not in T5's paper: the endings by number, of which the right one's is written."""
        endings = " ".join(f"ending{number}: {ending}" for number, ending in enumerate(example.endings, start=1))
        beginning = " ".join(filter(None, (example.context, example.start)))
        return f"{name} beginning: {beginning} {endings}", f"ending{example.label + 1}"

    def features(self, tokenizer: Any, examples: Sequence[ChoiceExample], max_length: int) -> list[Features]:
        """[CLS] context start [SEP] ending [SEP] of each ending, segments 0 and 1, cut to `max_length` tokens."""
        pairs = [pair for example in examples for pair in sequences_of(example)]
        rows = pair_ids(tokenizer, pairs, max_length)
        features, at = [], 0
        for example in examples:
            own = rows[at : at + len(example.endings)]
            at += len(own)
            ids, segments, cut = zip(*own, strict=True)
            features.append(Features(ids, example.label, any(cut), segments))
        return features

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch k, n, d] -> [batch, k]; a person's own item may have fewer endings, or more."""
        scores: torch.Tensor = head(self.pooled(hidden, batch.attention_mask))  # [batch k, 1]
        choices = len(scores) // len(batch.features) if batch.features else self.choices
        return scores.view(-1, choices)

    def baseline(self, dataset: ChoiceDataset) -> tuple[str, float]:
        """The accuracy, on the test's, of always taking the place that is most often right in training."""
        place, accuracy = self.majority(dataset)
        return f"always ending {LETTERS[place]}", accuracy

    def outcome(self, dataset: ChoiceDataset, answers: Answers, ended: Ended) -> ChoiceResult:
        """With the right ending's margin in each item, and the mistakes, the most confident first."""
        tested = [(example, likeliest(row), row) for example, row in zip(dataset.test, answers, strict=True)]
        wrong = [
            ChoiceMistake(**vars(example), predicted=place, probabilities=row)
            for example, place, row in tested
            if place != example.label
        ]
        margins = (
            row[example.label] - max(chance for at, chance in enumerate(row) if at != example.label)
            for example, _, row in tested
        )
        return ChoiceResult(
            accuracy=(len(tested) - len(wrong)) / max(1, len(tested)),
            margins=tuple(margins),
            mistakes=surest_first(wrong),
            **self.common_outcome(dataset, answers, ended),
        )


TASK = MultipleChoice


def sequences_of(example: ChoiceExample) -> list[tuple[str, str]]:
    """(sentence A, sentence B) of each ending: the context with the start, and the ending."""
    begun = f"{example.context} {example.start}".strip()
    return [(begun, ending) for ending in example.endings]


def example_of(boxes: Sequence[str]) -> ChoiceExample:
    """A person's own item: context, start (may be empty), endings one a line, or with | between them in one line.

    Raises UserError for what is missing.
    """
    context, start, listed = (clean_text(box, "The text").strip() for box in (*boxes, "", "", "")[:3])
    endings = tuple(line.strip() for line in re.split(r"[\n|]", listed) if line.strip())
    if not context and not start:
        raise UserError("Write what happens first.")
    if not MIN_ENDINGS <= len(endings) <= MAX_ENDINGS:
        raise UserError(f"Write {MIN_ENDINGS} to {MAX_ENDINGS} endings, one per line, not {len(endings)}.")
    return ChoiceExample(context, start, endings, 0)
