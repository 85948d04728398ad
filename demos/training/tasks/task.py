"""The interface of a task for the training loop, and common code: features, batches, pooling, token ids, dropout."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from torch import nn

from demos.training.data.splits import Splits
from demos.training.events import Epoch, Look, Outcome
from demos.training.settings import Settings

Answers = Sequence[Any]  # a task's output from each example's logits, in the examples' order
MAX_MISTAKES = 200  # that a result shows
NO_LABEL = -100  # a position that no loss is taken at, as PyTorch's cross_entropy skips it


@dataclass(frozen=True)
class Features:
    """One example as the model takes it."""

    sequences: tuple[tuple[int, ...], ...]  # [CLS] … [SEP] of each text that the encoder reads for this example
    target: Any  # what `Task.targets` makes a tensor of
    cut: bool  # tokens fell off at max_length
    segments: tuple[tuple[int, ...], ...] = ()  # token_type_ids of each sequence; none where all are 0
    extra: Any = None  # the task's data for reading its answers: offsets, words

    @property
    def size(self) -> int:
        """The example's tokens, once its sequences are padded to the longest of them."""
        return len(self.sequences) * max(map(len, self.sequences))


@dataclass(frozen=True)
class Batch:
    """Examples as padded tensors, on the run's device: R rows, the examples' sequences one after another."""

    input_ids: torch.Tensor  # [R, n]
    attention_mask: torch.Tensor  # [R, n]: 1 for a token, 0 for padding
    token_type_ids: torch.Tensor | None  # [R, n]; None where all are 0
    targets: torch.Tensor
    features: Sequence[Features]


@dataclass(frozen=True)
class Ended:
    """The loop's facts about a finished run."""

    loss: float  # mean over the test examples
    loss_before: float  # mean over the validation examples, before the first step
    steps: int
    seconds: float
    examples_per_second: float
    folder: str
    before: Answers  # to the validation examples, before the first step

    @property
    def run(self) -> dict[str, Any]:
        """The fields of every `Outcome` on the run itself, by name."""
        return {field.name: getattr(self, field.name) for field in fields(Outcome)}


class Task(ABC):
    """The methods of a task that the loop calls, a frozen dataclass; everything else is the same for all tasks."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    kind: ClassVar[str]  # the name under which a trained model's task is kept
    data: ClassVar[type[Splits]]  # the data that sets this task
    loss_name: ClassVar[str] = "cross-entropy"
    labels: Any  # the classes' names, by their index; none where the task has no classes

    @property
    def metric(self) -> str:
        """The name of the score: "accuracy", "entity F1"."""
        raise NotImplementedError

    @property
    def batch_metric(self) -> str:
        """The name of a batch's score, if a batch is too small for the metric; else ""."""
        return ""

    @classmethod
    @abstractmethod
    def of(cls, dataset: Any, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""

    @abstractmethod
    def features(self, tokenizer: Any, examples: Sequence[Any], max_length: int) -> list[Features]:
        """Turn examples into tokens."""

    @abstractmethod
    def as_text(self, example: Any, name: str) -> tuple[str, str]:
        """(what T5 would read for this example, what it would be trained to write), with the data set's short name.

        Raffel et al. 2020, section 2.4 and appendix D; for tasks that are not in that paper, a form in the same style.
        """

    @abstractmethod
    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """The layers on top of an encoder of this width, freshly initialized from `generator`."""

    def fitted(self, longest: int) -> Self:
        """The task for data whose longest sequence has so many tokens, where the head depends on that."""
        return self

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """The examples' targets as one tensor; rows are padded to `longest` tokens. One number an example: [batch]."""
        return torch.tensor([feature.target for feature in features])

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """From the last hidden states [R, n, d] to logits [batch, …]. The head on every token: [R, n, C]."""
        return head(hidden)

    @abstractmethod
    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The loss: a mean over the batch."""

    def units(self, targets: torch.Tensor) -> float:
        """Over how many things (examples, words; or their weights) `loss` is the mean. The targets' rows."""
        return float(len(targets))

    @abstractmethod
    def answers(self, logits: torch.Tensor, batch: Batch) -> list[Any]:
        """The answers kept for each example of the batch: plain tuples of numbers, not tensors."""

    @abstractmethod
    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The score of one batch's answers, or NaN where a batch is too small for one."""

    def baseline(self, dataset: Any) -> tuple[str, float]:
        """(in words, its score) what a student should beat: always the most frequent class, say; ("", NaN) without."""
        return "", math.nan

    def mean_loss(self, dataset: Any) -> float | None:
        """For numerical answers, the loss on the test examples of always giving the training's mean; else None."""
        return None

    def score(self, answers: Answers, targets: Sequence[Any]) -> float:
        """The score of the answers to the validation examples, by `metric`."""
        raise NotImplementedError

    def settled(self, examples: Sequence[Any], answers: Answers) -> Self:
        """The task with what is chosen by the answers to the validation examples once training is over."""
        return self

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[Any]
    ) -> Look:
        """The event for an evaluation on the validation examples."""
        return Epoch(step, epoch, train_loss, loss, self.score(answers, targets))

    @abstractmethod
    def outcome(self, dataset: Any, answers: Answers, ended: Ended) -> Outcome:
        """The score of the answers to the test examples, and the other results at the end."""


class SeededDropout(nn.Module):
    """Dropout from a separate generator: `nn.Dropout` draws from the global one, which other threads move."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.generator: torch.Generator | None = None  # on the values' device; set by the trainer

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if not self.training or not self.p:
            return values
        mask = torch.empty_like(values).bernoulli_(1 - self.p, generator=self.generator)
        return values * mask / (1 - self.p)


def pool(hidden: torch.Tensor, attention_mask: torch.Tensor, pooling: str, positions: int = 0) -> torch.Tensor:
    """One vector a sentence: [batch, n, d] and [batch, n] -> [batch, d], or without pooling [batch, positions d].

    cls: the first token's (Devlin et al. 2019, section 4). mean, max: over the tokens that are not padding
    (Reimers and Gurevych 2019, section 3). none: all tokens' vectors, one after another, zeros after the last token.
    """
    if pooling == "cls":
        return hidden[:, 0]
    mask = attention_mask.unsqueeze(-1)  # [batch, n, 1]
    if pooling == "max":
        return hidden.masked_fill(mask == 0, -torch.inf).amax(dim=1)
    if pooling == "none":
        return F.pad(hidden * mask, (0, 0, 0, positions - hidden.shape[1])).flatten(1)
    return (hidden * mask).sum(dim=1) / mask.sum(dim=1)


def tokenized(tokenizer: Any, texts: Sequence[str], **options: Any) -> Any:
    """The tokenizer's output for each text, however long: a mapping with "input_ids"."""
    # Never with truncation=...: the tokenizer may be one that all threads share, and that sets it for them all.
    return tokenizer(list(texts), truncation=False, verbose=False, **options) if texts else {"input_ids": []}


def token_ids(tokenizer: Any, texts: Sequence[str], max_length: int) -> list[tuple[tuple[int, ...], bool]]:
    """[CLS] text [SEP] of each, cut to `max_length` tokens, and whether it was cut."""
    return [
        (tuple(ids if len(ids) <= max_length else [*ids[: max_length - 1], ids[-1]]), len(ids) > max_length)
        for ids in tokenized(tokenizer, texts)["input_ids"]
    ]


def pair_ids(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], max_length: int
) -> list[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """[CLS] first [SEP] second [SEP] of each pair with its segments (0, then 1), and whether it was cut.

    Too long, the longer of the two loses its last token until both fit, as in Devlin et al.'s `_truncate_seq_pair`.
    """
    rows = tokenized(tokenizer, [text for pair in pairs for text in pair], add_special_tokens=False)["input_ids"]
    sequences = []
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        before = len(first) + len(second)
        lengths = _fitting(len(first), len(second), max_length - 3)
        first, second = first[: lengths[0]], second[: lengths[1]]
        ids = (tokenizer.cls_token_id, *first, tokenizer.sep_token_id, *second, tokenizer.sep_token_id)
        segments = (*[0] * (len(first) + 2), *[1] * (len(second) + 1))
        sequences.append((ids, segments, len(first) + len(second) < before))
    return sequences


def _fitting(first: int, second: int, room: int) -> tuple[int, int]:
    """The number of tokens kept of each, if the longer (of equals the second) loses its last one until both fit."""
    if first + second <= room:
        return first, second
    half = (room + 1) // 2
    if first <= half:
        return first, room - first
    return (room - second, second) if second <= room - half else (half, room - half)
