"""The training loop: a generator of events that serves every task, on its own copy of the encoder."""

import math
import shutil
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from demos.errors import UserError
from demos.training.data.splits import Splits, validation_as_test
from demos.training.events import Event, Failed, Finished, Outcome, Scoring, Started, Step, Stopped, Watched
from demos.training.learning.batches import balanced_places, scoring_batches, training_batches
from demos.training.learning.failures import sentence_of
from demos.training.learning.learner import Learner
from demos.training.learning.optimizer import learning_rate
from demos.training.learning.parallel import ALONE, Parallel
from demos.training.learning.stop_and_pause import Control, Pauses
from demos.training.results.answers import stored_answers, write_answers
from demos.training.settings import Settings
from demos.training.tasks.registry import task_of
from demos.training.tasks.task import Answers, Ended, Features, Task


def train(
    dataset: Splits,
    base: Path | str,
    settings: Settings,
    folder: Path | str,
    control: Control | None = None,
    parallel: Parallel = ALONE,
    on_cpu: bool = False,
) -> Iterator[Event]:
    """Fine-tune a fresh copy of the encoder in `base` on `dataset`; the trained model is kept in `folder`.

    Yields Started, Caching where layers are frozen, a Look (the untrained state), a Step a batch with Looks and
    Scorings between them, and at last one of Finished, Stopped (by request, or out of time) and Failed, which leaves no
    folder. A Watched follows each Look. `control` is called before each step. Nothing is yielded inside a torch
    context, so the caller may take each event in another thread. With `parallel` every process calls this alike: each
    yields the steps; process 0 alone looks, tests, keeps and yields an end. `on_cpu` leaves a GPU alone.
    """
    folder = Path(folder)
    fresh = not folder.exists()
    try:
        yield from _Training(dataset, Path(base), settings, folder, control or Control(), parallel, on_cpu).run()
    except (UserError, MemoryError, OSError, RuntimeError, SafetensorError) as error:
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        sentence = sentence_of(error)
        if not sentence:
            raise
        yield Failed(sentence)


class _Training:
    """One run's state, from its data to its clock."""

    def __init__(
        self,
        dataset: Splits,
        base: Path,
        settings: Settings,
        folder: Path,
        control: Control,
        parallel: Parallel,
        on_cpu: bool,
    ) -> None:
        self.began = time.monotonic()
        self.dataset, self.base, self.folder = dataset, base, folder
        self.settings = settings.check()
        self.control, self.pauses, self.parallel, self.on_cpu = control, Pauses(control), parallel, on_cpu
        self.task: Task = task_of(dataset, settings)
        self.order = torch.Generator().manual_seed(settings.seed)
        self.examples_done = 0
        self.training_seconds = 0.0
        self.scoring_rate = 0.0  # examples a second where no gradient is kept, measured at the first look
        self.looked: list[tuple[int, float, Answers]] = []  # step, loss and answers of the first look and the last

    def run(self) -> Iterator[Event]:
        """Load, look, step, look, test, keep."""
        self._load()
        settings, steps = self.settings, self.total_steps
        yield self._started()
        read_again = [*self.train_features, *self.validation_features]  # the test's are read once
        yield from self.learner.cache(read_again)
        yield from self._look(0, [])
        step, losses, reason = 0, [], ""
        looks = {
            min(steps, round(k * self.steps_per_epoch / settings.evaluations))
            for k in range(1, settings.epochs * settings.evaluations + 1)
        }
        for _ in range(settings.epochs):
            for batch in training_batches(self.lengths, settings.batch_size, self.order):
                yield from self.pauses.wait(step)
                reason = self.parallel.agreed(self._reason_to_stop(step))
                if reason:
                    break
                began = time.perf_counter()
                rate = learning_rate(step, steps, settings.learning_rate, settings.warmup, settings.schedule)
                loss, score, norm = self.learner.step([self.train_features[i] for i in batch], rate)
                self.training_seconds += time.perf_counter() - began
                step += 1
                self.examples_done += len(batch)
                losses.append(loss)
                if not math.isfinite(loss) or not math.isfinite(norm):
                    raise UserError(
                        f"The loss is no longer a finite number at step {step}; try a smaller learning rate."
                    )
                left = self._seconds_left(step, sum(look > step for look in looks))
                speed = self._speed()
                yield Step(step, steps, step / self.steps_per_epoch, loss, score, rate, norm, speed, left)
                if step in looks:
                    yield from self._look(step, losses)
                    losses = []
            if reason:
                break
        if not self.parallel.leads:
            return
        result = yield from self._test(step)
        yield Stopped(result, reason) if reason else Finished(result)

    def _load(self) -> None:
        data = self.dataset
        self.learner = Learner(self.task, self.base, self.settings, self.parallel, self.on_cpu)
        self.train_features, self.validation_features = map(self._features, (data.train, data.validation))
        self.everything = [*self.train_features, *self.validation_features]
        self.validation_is_test = data.test is data.validation
        self.test_features = self.validation_features if self.validation_is_test else self._features(data.test)
        if not self.validation_is_test:
            self.everything += self.test_features
        self.sample_places = balanced_places([feature.target for feature in self.validation_features])
        self.lengths = [feature.size for feature in self.train_features]
        self.steps_per_epoch = math.ceil(len(self.train_features) / self.settings.batch_size)
        self.total_steps = self.steps_per_epoch * self.settings.epochs
        self.learner.prepare(self.everything)
        self.task = self.learner.task

    def _features(self, examples: Sequence[Any]) -> list[Features]:
        return self.task.features(self.learner.model.tokenizer, examples, self.learner.limit)

    def _started(self) -> Started:
        data, learner = self.dataset, self.learner
        baseline, score = self.task.baseline(data)
        _, validation_score = self.task.baseline(validation_as_test(data))
        return Started(
            labels=self.task.labels,
            train=len(data.train),
            validation=len(data.validation),
            test=len(data.test),
            cut=sum(feature.cut for feature in self.everything),
            total_steps=self.total_steps,
            steps_per_epoch=self.steps_per_epoch,
            parameters=learner.parameters,
            trainable_parameters=learner.trainable,
            metric=self.task.metric,
            baseline=baseline,
            baseline_score=score,
            baseline_watched=validation_score,
            device=torch.cuda.get_device_name() if learner.device.type == "cuda" else "CPU",
            precision="bfloat16" if learner.half else "float32",
            threads=torch.get_num_threads(),
            watched=self.sample_places,
            head_parameters=learner.head_parameters,
            kept_head=learner.has_earlier_head,
            loss_name=self.task.loss_name,
            mean_loss=self.task.mean_loss(validation_as_test(data)),
        )

    def _reason_to_stop(self, step: int) -> str:
        if self.control.should_stop() or step == self.settings.max_steps > 0:
            return "asked"
        return "time" if self._seconds() > self.settings.max_seconds else ""

    def _score(self, features: list[Features], split: str) -> Generator[Event, None, tuple[float, Answers]]:
        """The mean loss over `features` and the answer to each one, in their order."""
        self.learner.model.modules().eval()
        self.learner.refit(self.train_features)
        answers: dict[int, Any] = {}
        total, units, seconds = 0.0, 0.0, 0.0
        for rows in scoring_batches([feature.size for feature in features]):
            began = time.perf_counter()
            with torch.inference_mode():
                logits, batch = self.learner.logits([features[i] for i in rows])
                share = self.task.units(batch.targets)
                total += self.task.loss(logits, batch.targets).item() * share
                answers |= zip(rows, self.task.answers(logits, batch), strict=True)
            units += share
            seconds += time.perf_counter() - began
            self.scoring_rate = len(answers) / seconds
            yield Scoring(split, len(answers), len(features))
        return total / units if units else 0.0, [answers[place] for place in range(len(features))]

    def _look(self, step: int, losses: list[float]) -> Iterator[Event]:
        if not self.parallel.leads:
            return
        loss, answers = yield from self._score(self.validation_features, "validation")
        self.looked = [*self.looked[:1], (step, loss, answers)]
        train_loss = sum(losses) / len(losses) if losses else math.nan
        targets = [feature.target for feature in self.validation_features]
        yield self.task.look(step, step / self.steps_per_epoch, train_loss, loss, answers, targets)
        yield Watched(step, tuple(answers[index] for index in self.sample_places))

    def _test(self, step: int) -> Generator[Event, None, Outcome]:
        looked, loss, answers = self.looked[-1]
        if not (self.validation_is_test and looked == step):
            loss, answers = yield from self._score(self.test_features, "test")
        self.task = self.learner.task = self.task.settled(self.dataset.validation, self.looked[-1][2])
        self.learner.keep(self.folder)
        write_answers(stored_answers(self.task, self.dataset, answers), self.folder)
        _, loss_before, before = self.looked[0]
        ended = Ended(
            loss=loss,
            loss_before=loss_before,
            steps=step,
            seconds=self._seconds(),
            examples_per_second=self._speed(),
            folder=str(self.folder),
            before=before,
        )
        return self.task.outcome(self.dataset, answers, ended)

    def _seconds(self) -> float:
        """Since the run began, its pauses left out."""
        return time.monotonic() - self.began - self.pauses.seconds

    def _speed(self) -> float:
        return self.examples_done / self.training_seconds if self.training_seconds else 0.0

    def _seconds_left(self, step: int, looks: int) -> float:
        to_score = looks * len(self.validation_features) + len(self.test_features) * (not self.validation_is_test)
        steps = (self.total_steps - step) * self.training_seconds / step
        return steps + (to_score / self.scoring_rate if self.scoring_rate else 0.0)
