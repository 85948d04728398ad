"""What a learner may choose for a fine-tune, and the bounds it must keep to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demos.errors import UserError

POOLINGS = ("mean", "cls", "max")
SCHEDULES = ("linear", "cosine", "constant")
STARTS = ("trained", "random", "scratch")
TRAINS = ("all", "top", "lora", "head")
OPTIMIZERS = ("adamw", "sgd")
PRECISIONS = ("auto", "float32", "bfloat16")
ACTIVATIONS = ("tanh", "relu", "gelu")
MAX_LAYERS = 3
MAX_SECONDS = 3_600.0
MAX_LAYER_WIDTH = 1_024


@dataclass(frozen=True)
class Settings:
    """One recipe. The defaults suit the bundled model on a few hundred sentences and two CPU cores.

    Devlin et al. 2019, A.3, recommend batch 16 or 32, learning rate 2e-5 to 5e-5 and 2 to 4 epochs for BERT base;
    the bundled one, half as wide and half as deep, takes, and wants, a larger rate.
    """

    pooling: str = "mean"  # which vector stands for the sentence: one of POOLINGS
    hidden: tuple[int, ...] = ()  # widths of dense layers between that vector and the last, linear one
    activation: str = "tanh"  # one of ACTIVATIONS: what follows each of those dense layers
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
    max_steps: int = 0  # the run ends after so many, as one that was stopped there; 0 is all
    threads: int = 0  # CPU threads; 0 is `cores()`
    trains: str = "all"  # one of TRAINS: everything, the upper `top_layers`, low-rank updates (LoRA), the head alone
    top_layers: int = 2  # where `trains` is "top": how many of the upper layers; embeddings and the rest stay
    frozen_embeddings: bool = False  # where `trains` is "all": the embeddings stay as they are
    lora_rank: int = 8  # where `trains` is "lora" (Hu et al. 2021)
    optimizer: str = "adamw"  # one of OPTIMIZERS
    layer_decay: float = 1.0  # the rate of each layer is this share of the one above it; 1 is the same for all
    class_weights: bool = False  # rare classes count more in the loss, in inverse proportion to how often they occur
    label_smoothing: float = 0.0  # share of the right answer's probability that is spread over all
    precision: str = "auto"  # one of PRECISIONS: auto is bfloat16 where the hardware multiplies in it
    start: str = "trained"  # one of STARTS: the base as it is; its layers drawn anew; its embeddings drawn anew too

    def check(self) -> Settings:
        """These settings. Raises UserError, naming the first that is out of bounds."""
        _one_of("The pooling", self.pooling, POOLINGS)
        _one_of("The schedule", self.schedule, SCHEDULES)
        if len(self.hidden) > MAX_LAYERS:
            raise UserError(f"There are {len(self.hidden):,} dense layers; the limit is {MAX_LAYERS}.")
        for width in self.hidden:
            _whole("A dense layer's width", width, 1, MAX_LAYER_WIDTH)
        _one_of("The activation", self.activation, ACTIVATIONS)
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
        _between("The time limit", self.max_seconds, 1, MAX_SECONDS)
        _whole("The number of steps", self.max_steps, 0, 10**6)
        _whole("The number of threads", self.threads, 0, 64)
        _one_of("What trains", self.trains, TRAINS)
        _whole("The number of upper layers", self.top_layers, 1, 48)
        _whole("The rank of LoRA", self.lora_rank, 1, 64)
        _one_of("The optimizer", self.optimizer, OPTIMIZERS)
        _between("The layer-wise decay", self.layer_decay, 0.1, 1)
        _between("The label smoothing", self.label_smoothing, 0, 0.5)
        _one_of("The precision", self.precision, PRECISIONS)
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
