"""The events of a training while it runs: frozen, plain and picklable, for page, API, benchmarks and tests."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from demos.bert.embeddings.agreement import Correlation, Gap
from demos.files import Json
from demos.training.metrics import ACCURACY, PEARSON, SPEARMAN, Calibration, always, class_metrics

BINARY = "binary cross-entropy"  # the loss of a task that decides on each label by itself


@dataclass(frozen=True)
class Waiting:
    """Before the start: this many trainings, running or waiting, must end or begin before this one begins."""

    place: int
    seconds: float  # until then, about


@dataclass(frozen=True)
class Started:
    """The model is loaded and the sentences are cut into tokens; no step is done yet."""

    labels: tuple[str, ...]
    train: int  # sentences
    validation: int
    test: int
    cut: int  # sentences longer than max_length tokens, which lost their end
    total_steps: int
    steps_per_epoch: int
    parameters: int  # all of them, head included
    trainable_parameters: int  # those that the optimizer holds: of the word embeddings, only rows that occur
    metric: str  # the metric of a look's score and of the result: "accuracy", "MCC", "entity F1"
    baseline: str  # in words, what to beat: always the most frequent class; "" without one
    baseline_score: float  # its score on the test examples
    baseline_watched: float  # its score on the validation examples, as the curve's
    device: str
    precision: str  # of the matrix products: "float32" or "bfloat16"
    threads: int
    watched: tuple[int, ...] = ()  # validation examples, by their place, whose answers are in each `Watched`
    head_parameters: int = 0  # of all parameters, those of the layers on top
    kept_head: bool = False  # these began as an earlier run's, whose task and labels are the same
    loss_name: str = "cross-entropy"  # what `Step` and the looks give as the loss
    mean_loss: float | None = None  # where answers are numbers, on validation: the loss of always giving the mean one


@dataclass(frozen=True)
class Step:
    """One batch, one move of the weights. Loss and score are this batch's, before the move.

    The score is NaN where a task has none for a batch.
    """

    step: int  # 1..total_steps
    total_steps: int
    epoch: float  # epochs done after this step
    loss: float
    score: float
    learning_rate: float
    gradient_norm: float  # before clipping
    examples_per_second: float  # over the whole training so far, looks at the validation sentences not counted
    seconds_left: float  # to the end of the run, test included
    slower: bool = False  # than was expected before it began


@dataclass(frozen=True)
class Epoch:
    """A look at the validation sentences: before the first step (epoch 0), and `evaluations` times an epoch."""

    step: int
    epoch: float
    train_loss: float  # mean over the steps since the look before; NaN at step 0
    validation_loss: float
    validation_score: float


@dataclass(frozen=True)
class PairLook:
    """The same for a task on rated pairs: a look at the held-out ones, with Spearman's rho and its 95% interval."""

    step: int
    epoch: float
    train_loss: float  # as Epoch's
    validation_loss: float
    spearman: float  # NaN where all answers are equal
    low: float
    high: float

    @property
    def validation_score(self) -> float:
        """As Epoch's."""
        return self.spearman


@dataclass(frozen=True)
class Watched:
    """Right after a look: the model's answers to the few validation examples that `Started` names, in its order."""

    step: int
    answers: tuple[Any, ...]  # as the task gives them: each class's probability, say


@dataclass(frozen=True)
class Caching:
    """The frozen layers read each example once, and what they make of it is kept: how many are done."""

    done: int
    total: int


@dataclass(frozen=True)
class Paused:
    """The run waits after this step until it is resumed."""

    step: int
    seconds: float  # it waits at the most, since others wait in line; then it goes on by itself


@dataclass(frozen=True)
class Resumed:
    """The run goes on."""

    step: int
    reason: str  # "asked", or "time": no second more is left to pause, now or later in this run


@dataclass(frozen=True)
class Scoring:
    """Examples of a split are being scored, no gradient: how many are done."""

    split: str  # "validation" or "test"
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of every task: how the trained model does on test examples that were not used for training."""

    loss: float  # mean over the test examples
    steps: int  # done
    seconds: float
    examples_per_second: float
    folder: str  # safetensors weights, tokenizer, configuration: what `Trained.read` takes

    @property
    def metrics(self) -> dict[str, float]:
        """The scores on the test examples by the names they are shown under, the headline first."""
        raise NotImplementedError


@dataclass(frozen=True)
class Mistake:
    """A test sentence that the trained model gets wrong."""

    text: str
    label: int
    predicted: int
    probabilities: tuple[float, ...]
    pair: str = ""  # the second sentence, where the class is of two


@dataclass(frozen=True)
class Result(Outcome):
    """The trained model's results on the test sentences; C classes."""

    labels: tuple[str, ...]
    accuracy: float
    macro_f1: float  # mean of the classes' F1, every class counting alike
    majority_label: str
    majority_accuracy: float
    confusion: tuple[tuple[int, ...], ...]  # [true class][predicted class]: sentences
    mistakes: tuple[Mistake, ...]  # the most confident first
    answers: tuple[tuple[float, ...], ...] = ()  # [m][C]: each test sentence's probabilities, in the data set's order
    calibration: Calibration | None = None  # whether it is right as often as its probabilities say
    headline: str = ACCURACY  # the metric by which the data set is judged
    positive: str = ""  # of two classes, the one that F1 is of; "" for none

    @property
    def metrics(self) -> dict[str, float]:
        """The scores by their names, the headline first."""
        return class_metrics(self.confusion, self.labels, self.headline, self.positive)

    @property
    def majority_metrics(self) -> dict[str, float]:
        """The same of always giving the training sentences' most frequent class."""
        guesses = always(self.confusion, self.labels.index(self.majority_label))
        return class_metrics(guesses, self.labels, self.headline, self.positive)


@dataclass(frozen=True)
class PairResult(Outcome):
    """The held-out pairs' cosines before and after training, and how they agree with the ratings."""

    before: tuple[float, ...]  # in the data set's order
    after: tuple[float, ...]
    loss_before: float
    agreement_before: Correlation
    agreement: Correlation
    gap: Gap  # rho after less rho before, on the same pairs

    @property
    def metrics(self) -> dict[str, float]:
        """The agreement by its names."""
        return {SPEARMAN: self.agreement.spearman, PEARSON: self.agreement.pearson}


Look = Epoch | PairLook


@dataclass(frozen=True)
class Finished:
    """Every step was done."""

    result: Outcome


@dataclass(frozen=True)
class Stopped:
    """Stopped before the last step, by the learner or by the clock; the model so far is kept and tested."""

    result: Outcome
    reason: str  # "asked" or "time"


@dataclass(frozen=True)
class Failed:
    """The run ended with nothing to keep; one plain sentence says why."""

    message: str
    on_cpu: bool = False  # for want of a GPU: the same run is possible on the CPU


Event = Waiting | Started | Step | Look | Watched | Caching | Scoring | Paused | Resumed | Finished | Stopped | Failed


def as_json(event: Event) -> Json:
    """The event as JSON takes it: its fields, and its name under "event"; NaN, which JSON lacks, becomes null.

    A result has its metrics too. Left out are the weights' folder, since a path on the server is nobody's business,
    and the answer to every test example, since they are many.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items() if key != "folder"}
        if isinstance(value, tuple | list):
            return [plain(inner) for inner in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    fields = {"event": type(event).__name__.lower(), **plain(asdict(event))}
    if isinstance(event, Finished | Stopped):
        fields["result"].pop("answers", None)
        fields["result"]["metrics"] = plain(event.result.metrics)
    return fields
