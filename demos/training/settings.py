"""What a learner may choose for a fine-tune, and the bounds it must keep to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demos.errors import UserError

POOLINGS = ("mean", "cls", "max")
SCHEDULES = ("linear", "cosine", "constant")
STARTS = ("trained", "random")
MAX_LAYER_WIDTH = 1_024


@dataclass(frozen=True)
class Settings:
    """One recipe. The defaults suit the bundled model on a few hundred sentences and two CPU cores.

    Devlin et al. 2019, A.3, recommend batch 16 or 32, learning rate 2e-5 to 5e-5 and 2 to 4 epochs for BERT base;
    the bundled one, half as wide and half as deep, takes, and wants, a larger rate.
    """

    pooling: str = "mean"  # which vector stands for the sentence: one of POOLINGS
    hidden: int = 0  # width of one more dense layer between that vector and the classes; 0 is none
    dropout: float = 0.1  # in the head, before each linear layer
    epochs: int = 3
    learning_rate: float = 1e-4  # the schedule's peak
    batch_size: int = 16
    warmup: float = 0.1  # share of all steps
    schedule: str = "linear"  # one of SCHEDULES: what follows the warm-up
    weight_decay: float = 0.01  # decoupled; weight matrices only
    clip: float = 1.0  # largest norm of the gradient over all parameters
    max_length: int = 64  # tokens, [CLS] and [SEP] included
    seed: int = 0
    evaluations: int = 2  # looks at the validation sentences per epoch
    max_seconds: float = 600.0  # wall clock; a run that reaches it stops and keeps what it learned
    threads: int = 0  # CPU threads; 0 is `cores()`
    start: str = "trained"  # one of STARTS: the base as it is, or its layers drawn anew over its own embeddings

    def check(self) -> Settings:
        """These settings. Raises UserError, naming the first that is out of bounds."""
        _one_of("The pooling", self.pooling, POOLINGS)
        _one_of("The schedule", self.schedule, SCHEDULES)
        _whole("The hidden layer's width", self.hidden, 0, MAX_LAYER_WIDTH)
        _between("The dropout", self.dropout, 0, 0.9)
        _whole("The number of epochs", self.epochs, 1, 20)
        _between("The learning rate", self.learning_rate, 1e-7, 1e-1)
        _whole("The batch size", self.batch_size, 1, 128)
        _between("The warm-up", self.warmup, 0, 0.9)
        _between("The weight decay", self.weight_decay, 0, 1)
        _between("The clipping norm", self.clip, 1e-3, 1e3)
        _whole("The number of tokens", self.max_length, 4, 512)
        _whole("The seed", self.seed, 0, 2**31 - 1)
        _whole("The number of looks per epoch", self.evaluations, 1, 20)
        _between("The time limit", self.max_seconds, 1, 3_600)
        _whole("The number of threads", self.threads, 0, 64)
        _one_of("The start", self.start, STARTS)
        return self


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UserError(f"{name} must be one of {', '.join(choices)}, not {str(value)[:40]!r}.")


def _between(name: str, value: object, low: float, high: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high:  # type: ignore[operator]
        raise UserError(f"{name} must be a number from {low:g} to {high:g}, not {str(value)[:40]!r}.")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(f"{name} must be a whole number from {low:,} to {high:,}, not {str(value)[:40]!r}.")
