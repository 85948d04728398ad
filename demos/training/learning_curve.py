"""Learning curves: ever larger parts of the data, learned from the model's weights and from random ones.

Each start has its own recipe: what suits weights that have been trained is too slow and too short for random ones.
"""

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.compute_cost import cost_of
from demos.training.events import Failed, Finished, Result, Step, Stopped, Waiting
from demos.training.frozen_classifier import FOLDS, MAX_ITERATIONS, WORD, WORDS_C
from demos.training.lstm_classifier import lstm_score
from demos.training.metrics import majority
from demos.training.presets import PRESETS
from demos.training.service.gpu_worker import NoGPUError
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)  # of the training examples
MAX_SEEDS = 3
MAX_EPOCHS = 20  # enough to know a few dozen sentences by heart
MAX_STEPS = 150  # of one training, about; larger data is read less often
# From random weights, so that the emotions' training examples are known by the end; seeds differ by several points.
SCRATCH_RATE, SCRATCH_STEPS, SCRATCH_SEEDS = 5e-4, 250, 3
WATCHED = 8  # validation examples in each training: their scores are not used here
MAX_SECONDS = 900.0  # of a whole measurement; the points measured by then are kept
LOAD_SECONDS = 1.0  # of each training, beside its steps
PRETRAINED, WORDS, LSTM, SCRATCH = "pretrained", "words", "lstm", "scratch"
STARTS = {PRETRAINED: "trained", SCRATCH: "scratch"}


@dataclass(frozen=True)
class Point:
    """One model, learned from so many examples, on the test examples."""

    series: str  # PRETRAINED, WORDS, LSTM or SCRATCH
    examples: int
    seed: int
    score: float  # accuracy
    learned: float | None = None  # accuracy on its own training examples, batch by batch over the last epoch


@dataclass(frozen=True)
class Measured:
    """A measurement so far, or a finished one."""

    data: str  # name
    model: str  # title
    sizes: tuple[int, ...]  # training examples
    test: int  # examples
    seeds: int  # the requested number; from random weights there are SCRATCH_SEEDS
    majority: float  # accuracy of always answering the training examples' most frequent class
    points: tuple[Point, ...] = ()
    seconds: float = 0.0


def measured_from(plain: Mapping[str, Any]) -> Measured:
    """A measurement from its fields as JSON keeps them (`dataclasses.asdict`)."""
    points = tuple(Point(**point) for point in plain["points"])
    return Measured(**{**plain, "sizes": tuple(plain["sizes"]), "points": points})


@dataclass(frozen=True)
class Progress:
    """The state of a measurement, and its results so far."""

    measured: Measured
    done: int  # trainings
    total: int
    status: str  # of the training under way: "step 12 of 96"
    seconds_left: float


@dataclass(frozen=True)
class Job:
    """One training of the measurement."""

    series: str
    dataset: Dataset
    settings: Settings


def nested(dataset: Dataset, share: float, seed: int) -> tuple[Example, ...]:
    """This share of the training examples, class by class, at least one of each, in the data set's order.

    Nested: of one seed, a smaller share lies within every larger one. All of them for share 1.
    """
    by_class: dict[int, list[int]] = {}
    for at, example in enumerate(dataset.train):
        by_class.setdefault(example.label, []).append(at)
    generator = np.random.default_rng(seed)
    taken: set[int] = set()
    for _, places in sorted(by_class.items()):
        order = generator.permutation(len(places))
        taken |= {places[at] for at in order[: max(1, round(share * len(places)))]}
    return tuple(example for at, example in enumerate(dataset.train) if at in taken)


def recipe(examples: int, whole: int, seed: int, start: str) -> Settings:
    """The quick recipe with as many steps as it takes on the `whole` data, but at most MAX_EPOCHS epochs.

    With the same epochs instead, the smallest part would end after a handful of steps: a test of patience, not of data.
    From random weights: SCRATCH_STEPS at SCRATCH_RATE.
    """
    quick = PRESETS["quick"].settings
    steps = min(MAX_STEPS, quick.epochs * math.ceil(whole / quick.batch_size))
    if start == STARTS[SCRATCH]:
        quick, steps = replace(quick, learning_rate=SCRATCH_RATE), SCRATCH_STEPS
    epochs = round(steps / math.ceil(examples / quick.batch_size))
    return replace(quick, epochs=min(MAX_EPOCHS, max(1, epochs)), evaluations=1, seed=seed, start=start)


def jobs(dataset: Dataset, seeds: int) -> list[Job]:
    """The trainings, in the order in which they grow the picture: all sizes of the first seed, then of the next."""
    todo = []
    for seed in range(max(seeds, SCRATCH_SEEDS)):
        for share in SHARES:
            part = replace(dataset, train=nested(dataset, share, seed), validation=dataset.validation[:WATCHED])
            for series, repeated in ((PRETRAINED, seeds), (SCRATCH, SCRATCH_SEEDS)):
                if seed < repeated:
                    settings = recipe(len(part.train), len(dataset.train), seed, STARTS[series])
                    todo.append(Job(series, part, settings))
    return todo


def checked(dataset: Any, seeds: Any) -> Dataset:
    """The data set, where this can be measured on it. Raises UserError for another task and for too many seeds."""
    if not isinstance(dataset, Dataset):
        raise UserError("Learning curves are available only for classes of sentences and of sentence pairs.")
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"The number of seeds must be 1 to {MAX_SEEDS}, not {str(seeds)[:20]!r}.")
    sizes = {len(nested(dataset, share, 0)) for share in SHARES}
    if len(sizes) < 3:
        raise UserError(f"{len(dataset.train):,} training examples are too few for a learning curve.")
    return dataset


def empty(dataset: Dataset, model: str, seeds: int) -> Measured:
    """Before the first training: only what guessing reaches."""
    labels = [[example.label for example in split] for split in (dataset.train, dataset.test)]
    _, guessed = majority(labels[0], labels[1], len(dataset.labels))
    sizes = tuple(sorted({len(nested(dataset, share, 0)) for share in SHARES}))
    return Measured(dataset.name, model, sizes, len(dataset.test), seeds, guessed)


def expected_seconds(
    trainings: TrainingService, loaded: LoadedModel, dataset: Dataset, seeds: int, on_cpu: bool = False
) -> float:
    """About how long a `Measurement` takes with the line empty: each start's first seed counted, times its seeds."""
    total = 0.0
    for job in jobs(dataset, 1):
        if job.settings.seed == 0:  # the others cost the same
            cost = cost_of(job.dataset, loaded.tokenizer, loaded.model, job.settings)
            seconds = trainings.expected(loaded.spec.key, job.dataset, job.settings, cost, on_cpu).seconds
            total += (seconds + LOAD_SECONDS) * (seeds if job.series == PRETRAINED else SCRATCH_SEEDS)
    return total


def words_score(dataset: Dataset, train: Sequence[Example]) -> float:
    """Accuracy on the test examples of logistic regression on TF-IDF of the words, without any BERT.

    Its C is chosen by cross-validation where each class has two examples. Of two sentences it is given how far each
    word's weight lies apart in them, and the weights' product: which words are shared counts, not which occur.
    """
    texts = [(example.text, example.pair) for example in train]
    vectorizer = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True)
    vectorizer.fit([text for both in texts for text in both if text])
    targets = np.array([example.label for example in train])
    pairs = dataset.kind == "pair"
    fitted, tested = (_words(vectorizer, split, pairs) for split in (train, dataset.test))
    if len(np.unique(targets)) < 2:
        return empty(dataset, "", 1).majority
    folds = min(FOLDS, int(np.bincount(targets)[np.unique(targets)].min()))
    classifier: Any = LogisticRegression(max_iter=MAX_ITERATIONS, C=max(WORDS_C))
    with threadpool_limits(1):
        if folds >= 2:
            splits = StratifiedKFold(folds, shuffle=True, random_state=0)
            classifier = GridSearchCV(classifier, {"C": list(WORDS_C)}, cv=splits)
        classifier.fit(fitted, targets)
        predicted = classifier.predict(tested)
    return float(np.mean(predicted == np.array([example.label for example in dataset.test])))


def _words(vectorizer: Any, examples: Sequence[Example], pairs: bool) -> csr_matrix:
    first = vectorizer.transform([example.text for example in examples])
    if not pairs:
        return first
    second = vectorizer.transform([example.pair for example in examples])
    return hstack([abs(first - second), first.multiply(second)]).tocsr()


@dataclass
class Measurement:
    """Train and test every part, one training at a time through the queue; no model is kept.

    Ends early when `should_stop`, or after `most_seconds`, with the points measured by then. `expected` seconds are
    shown as left until trainings here say better, `on_cpu` needs no GPU.
    """

    trainings: TrainingService
    key: str  # of the model
    title: str
    base: Path
    expected: float
    should_stop: Callable[[], bool] = lambda: False
    most_seconds: float = MAX_SECONDS
    on_cpu: bool = False
    began: float = field(default_factory=time.monotonic)
    waited: float = 0.0  # seconds in line
    training: float = 0.0  # seconds in trainings that are done
    done: int = 0

    def of(self, dataset: Dataset, seeds: int) -> Generator[Progress, None, None]:
        """Close it to give up. Raises UserError where a training fails, NoGPUError where one got no GPU."""
        self.measured = empty(dataset, self.title, seeds)
        todo = jobs(dataset, seeds)
        self.total = len(todo)
        counted: set[tuple[int, int]] = set()  # (seed, size) of which words and LSTM are done
        for job in todo:
            part = (job.settings.seed, len(job.dataset.train))
            if part not in counted:
                counted.add(part)
                self._add(WORDS, job, words_score(job.dataset, job.dataset.train))
                yield self._progress("counting the words")
                self._add(LSTM, job, *lstm_score(job.dataset, job.dataset.train, job.settings.seed))
                yield self._progress("an LSTM")
            if (yield from self._train(job)):
                yield replace(self._progress("stopped"), seconds_left=0.0)
                return

    def _train(self, job: Job) -> Generator[Progress, None, bool]:
        """One training; whether the measurement is to end."""
        run, began, in_line = self.trainings.runs.new(), time.monotonic(), 0.0
        what = run, job.dataset, self.key, self.base, job.settings
        events = self.trainings.fine_tune(*what, keep=False, on_cpu=self.on_cpu)
        last_epoch: list[float] = []
        try:
            for event in events:
                seconds = time.monotonic() - self.began - self.waited - in_line
                if self.should_stop() or seconds > self.most_seconds:
                    return True
                if isinstance(event, Waiting):
                    in_line = time.monotonic() - began
                    minutes = math.ceil(event.seconds / 60)
                    yield self._progress(f"{event.place} ahead of it in the line, for about {minutes} min")
                elif isinstance(event, Step):
                    if event.epoch > job.settings.epochs - 1:
                        last_epoch.append(event.score)
                    yield self._progress(f"step {event.step:,} of {event.total_steps:,}")
                elif isinstance(event, Failed):
                    raise (NoGPUError if event.on_cpu else UserError)(event.message)
                elif isinstance(event, Finished | Stopped) and isinstance(event.result, Result):
                    learned = sum(last_epoch) / len(last_epoch) if last_epoch else None
                    self._add(job.series, job, event.result.accuracy, learned)
        finally:
            events.close()  # type: ignore[attr-defined]
        self.waited += in_line
        self.training += time.monotonic() - began - in_line
        self.done += 1
        yield self._progress("done")
        return False

    def _add(self, series: str, job: Job, score: float, learned: float | None = None) -> None:
        point = Point(series, len(job.dataset.train), job.settings.seed, score, learned)
        self.measured = replace(self.measured, points=(*self.measured.points, point))

    def _progress(self, status: str) -> Progress:
        a_training = self.training / self.done if self.done else self.expected / self.total
        spent = replace(self.measured, seconds=time.monotonic() - self.began - self.waited)
        return Progress(spent, self.done, self.total, status, (self.total - self.done) * a_training)
