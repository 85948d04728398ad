"""The settings of a fine-tuning run, and their bounds."""

from dataclasses import dataclass
from typing import ClassVar, Self

from demos.errors import UserError

MAX_LAYERS = 3
MAX_SECONDS = 3_600.0
MAX_LAYER_WIDTH = 1_024
# Field: (what it is called, the values it may have).
CHOICES = {
    "pooling": ("The pooling", ("mean", "cls", "max", "none")),
    "schedule": ("The schedule", ("linear", "cosine", "constant")),
    "trains": ("The trainable part", ("all", "top", "lora", "head")),
    "optimizer": ("The optimizer", ("adamw", "sgd")),
    "start": ("The start", ("trained", "random", "scratch")),
}
# Field: (what it is called, the least and the most it may be); a whole number where its default is one.
BOUNDS: dict[str, tuple[str, float, float]] = {
    "dropout": ("The dropout", 0, 0.9),
    "epochs": ("The number of epochs", 1, 20),
    "learning_rate": ("The learning rate", 1e-7, 1e-1),
    "batch_size": ("The batch size", 1, 128),
    "warmup": ("The warm-up", 0, 0.9),
    "weight_decay": ("The weight decay", 0, 1),
    "clip": ("The clipping norm", 1e-3, 1e3),
    "max_length": ("The number of tokens", 4, 512),
    "seed": ("The seed", 0, 2**31 - 1),
    "evaluations": ("The number of evaluations per epoch", 1, 20),
    "max_seconds": ("The time limit", 1, MAX_SECONDS),
    "max_steps": ("The number of steps", 0, 10**6),
    "threads": ("The number of threads", 0, 64),
    "top_layers": ("The number of upper layers", 1, 48),
    "lora_rank": ("The rank of LoRA", 1, 64),
}


@dataclass(frozen=True)
class Settings:
    """One recipe. The defaults suit the bundled model on a few hundred sentences and two CPU cores.

    Devlin et al. 2019, A.3, recommend batch 16 or 32, learning rate 2e-5 to 5e-5 and 2 to 4 epochs for BERT base;
    the bundled one, half as wide and half as deep, takes, and wants, a larger rate.
    """

    pooling: str = "mean"  # which vector represents the sentence; none: all of them, one after another
    hidden: tuple[int, ...] = ()  # widths of dense layers, each with tanh, between that vector and the last, linear one
    dropout: float = 0.1  # in the head, before each linear layer
    epochs: int = 3
    learning_rate: float = 1e-4  # the schedule's peak
    batch_size: int = 16
    warmup: float = 0.1  # share of all steps
    schedule: str = "linear"  # the schedule after the warm-up
    weight_decay: float = 0.01  # decoupled; weight matrices only
    clip: float = 1.0  # largest norm of the gradient over all parameters
    max_length: int = 64  # tokens, [CLS] and [SEP] included
    seed: int = 0
    evaluations: int = 2  # looks at the validation sentences per epoch
    max_seconds: float = 600.0  # wall clock; a run that reaches it stops and keeps what it learned
    max_steps: int = 0  # the run ends after so many, as one that was stopped there; 0 is all
    threads: int = 0  # CPU threads; 0 is `cores()`
    trains: str = "all"  # everything, the upper `top_layers`, low-rank updates (LoRA), the head alone
    top_layers: int = 2  # where `trains` is "top": how many of the upper layers; embeddings and the rest stay
    frozen_embeddings: bool = False  # where `trains` is "all": the embeddings are not changed
    lora_rank: int = 8  # where `trains` is "lora" (Hu et al. 2021)
    optimizer: str = "adamw"
    contrast: bool = False  # the encoder learns from pairs of examples, then a logistic regression is the head
    class_weights: bool = False  # rare classes count more in the loss, in inverse proportion to how often they occur
    start: str = "trained"  # the base unchanged; its layers drawn again; its embeddings drawn again too
    lora_targets: ClassVar[tuple[str, ...]] = ("query", "value", "q_lin", "v_lin")  # BERT's names, DistilBERT's
    longest: ClassVar[float] = MAX_SECONDS  # what `max_seconds` may be at most

    def check(self) -> Self:
        """These settings. Raises UserError, naming the first that is out of bounds."""
        for field, (name, choices) in CHOICES.items():
            value = getattr(self, field)
            if value not in choices:
                raise UserError(f"{name} must be one of {', '.join(choices)}, not {str(value)[:40]!r}.")
        if len(self.hidden) > MAX_LAYERS:
            raise UserError(f"There are {len(self.hidden):,} dense layers; the limit is {MAX_LAYERS}.")
        if self.contrast and self.hidden:
            raise UserError("A logistic regression has no dense layers; set the layers on top to none.")
        for width in self.hidden:
            _bounded("A dense layer's width", width, 1, MAX_LAYER_WIDTH, int)
        for field, (name, low, high) in BOUNDS.items():
            high = self.longest if field == "max_seconds" else high
            _bounded(name, getattr(self, field), low, high, type(getattr(Settings, field)))
        return self


def _bounded(name: str, value: object, low: float, high: float, kind: type) -> None:
    """Raises UserError unless `value` is a number from `low` to `high`; a whole one where `kind` is int."""
    fits = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if fits and low <= value <= high:  # type: ignore[operator]
        return
    numbers = f"a whole number from {low:,} to {high:,}" if kind is int else f"a number from {low:g} to {high:g}"
    raise UserError(f"{name} must be {numbers}, not {str(value)[:40]!r}.")
