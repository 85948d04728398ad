"""The training loop: a generator of events that serves every task, on its own copy of the encoder."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from demos.errors import UserError
from demos.training.batches import scoring_batches, training_batches
from demos.training.data import Splits
from demos.training.events import Event, Failed, Finished, Outcome, Scoring, Started, Step, Stopped
from demos.training.model import (
    CompactRows,
    Model,
    collate,
    keep,
    last_states,
    load_encoder,
    load_tokenizer,
    redraw_layers,
)
from demos.training.schedule import learning_rate
from demos.training.settings import Settings
from demos.training.task import Answers, Batch, Ended, Features, SeededDropout, Task
from demos.training.tasks import task_of


def train(
    dataset: Splits,
    base: Path | str,
    settings: Settings,
    folder: Path | str,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Fine-tune a fresh copy of the encoder in `base` on `dataset`; the trained model is kept in `folder`.

    Yields Started, then a Look (the untrained state), a Step a batch with Looks and Scorings between them, and at last
    one of Finished, Stopped (asked, or out of time) and Failed. `should_stop` is asked before each step. Nothing
    is yielded inside a torch context, so the caller may take each event in another thread.
    """
    try:
        yield from _Training(dataset, Path(base), settings, Path(folder), should_stop).run()
    except UserError as error:
        yield Failed(str(error))
    except (torch.OutOfMemoryError, MemoryError):
        yield Failed("The machine ran out of memory; a smaller batch, shorter sentences or a smaller model need less.")
    except OSError as error:
        yield Failed(f"The run could not be kept: {error.strerror or 'the files could not be read or written'}.")


def parameter_groups(modules: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Weight matrices with decay, biases, LayerNorms and embeddings without.

    Devlin et al.'s code decays neither biases nor LayerNorms. Embeddings: decay would move rows that never occur.
    """
    plain = {id(p) for m in modules.modules() if isinstance(m, nn.Embedding | nn.LayerNorm) for p in m.parameters()}
    decayed: list[nn.Parameter] = []
    kept: list[nn.Parameter] = []
    for name, parameter in modules.named_parameters():
        if parameter.requires_grad:
            (kept if id(parameter) in plain or name.endswith("bias") else decayed).append(parameter)
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": kept, "weight_decay": 0.0}]


class _Training:
    """One run's state, from its model to its clock."""

    def __init__(
        self, dataset: Splits, base: Path, settings: Settings, folder: Path, should_stop: Callable[[], bool]
    ) -> None:
        self.began = time.monotonic()
        self.dataset, self.base, self.folder = dataset, base, folder
        self.settings = settings.check()
        self.should_stop = should_stop
        self.task: Task = task_of(dataset, settings)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        # bfloat16 pays where the hardware multiplies in it; on other CPUs it is two to four times slower.
        self.half = self.device.type == "cuda" or torch.cpu._is_amx_tile_supported()
        self.order = torch.Generator().manual_seed(settings.seed)
        self.training_seconds = 0.0
        self.scoring_rate = 0.0  # examples a second where no gradient is kept, measured at the first look
        self.looked: list[tuple[int, float, Answers]] = []  # step, loss and answers of the first look and the last

    def run(self) -> Iterator[Event]:
        """Load, look, step, look, test, keep."""
        self._load()
        settings, steps = self.settings, self.total_steps
        yield self._started()
        yield from self._look(0, [])
        step, losses, reason = 0, [], ""
        looks = {
            min(steps, round(k * self.steps_per_epoch / settings.evaluations))
            for k in range(1, settings.epochs * settings.evaluations + 1)
        }
        for _ in range(settings.epochs):
            for batch in training_batches(self.lengths, settings.batch_size, self.order):
                reason = self._reason_to_stop()
                if reason:
                    break
                loss, score, norm, rate = self._step(step, [self.train_features[i] for i in batch])
                step += 1
                self.examples_done += len(batch)
                losses.append(loss)
                if not math.isfinite(loss) or not math.isfinite(norm):
                    raise UserError(f"The loss became infinite at step {step}; try a smaller learning rate.")
                left = self._seconds_left(step, sum(look > step for look in looks))
                speed = self._speed()
                yield Step(step, steps, step / self.steps_per_epoch, loss, score, rate, norm, speed, left)
                if step in looks:
                    yield from self._look(step, losses)
                    losses = []
            if reason:
                break
        result = yield from self._test(step)
        yield Stopped(result, reason) if reason else Finished(result)

    def _load(self) -> None:
        # sdpa's CUDA kernels add up in no fixed order; same seed, same numbers matters more than their speed here.
        encoder = load_encoder(self.base, "sdpa" if self.device.type == "cpu" else "eager").to(self.device)
        tokenizer = load_tokenizer(self.base)
        limit = min(self.settings.max_length, encoder.config.max_position_embeddings)
        if self.settings.start == "random":
            redraw_layers(encoder, self.settings.seed)
        data = self.dataset
        self.train_features = self.task.features(tokenizer, data.train, limit)
        self.validation_features = self.task.features(tokenizer, data.validation, limit)
        self.watched_is_tested = data.test is data.validation
        self.test_features = [] if self.watched_is_tested else self.task.features(tokenizer, data.test, limit)
        self.everything = [*self.train_features, *self.validation_features, *self.test_features]
        if self.watched_is_tested:
            self.test_features = self.validation_features
        self.lengths = [feature.size for feature in self.train_features]
        self.steps_per_epoch = math.ceil(len(self.train_features) / self.settings.batch_size)
        self.total_steps = self.steps_per_epoch * self.settings.epochs
        self.examples_done = 0
        self.limit = limit
        head = self.task.head(encoder.config.hidden_size, torch.Generator().manual_seed(self.settings.seed))
        noise = torch.Generator(self.device).manual_seed(self.settings.seed)
        for layer in head.modules():
            if isinstance(layer, SeededDropout):
                layer.generator = noise
        self.model = Model(encoder, head.to(self.device), tokenizer)
        self.padding = tokenizer.pad_token_id or 0
        self.parameters = sum(parameter.numel() for parameter in self.model.modules().parameters())
        ids = (token for feature in self.everything for sequence in feature.sequences for token in sequence)
        self.compact = CompactRows.shrink(encoder, ids, self.padding)
        self.optimizer = torch.optim.AdamW(
            parameter_groups(self.model.modules(), self.settings.weight_decay), lr=0.0, fused=True
        )

    def _started(self) -> Started:
        data = self.dataset
        baseline, score = self.task.baseline(data)
        return Started(
            labels=self.task.labels,
            train=len(data.train),
            validation=len(data.validation),
            test=len(data.test),
            cut=sum(feature.cut for feature in self.everything),
            total_steps=self.total_steps,
            steps_per_epoch=self.steps_per_epoch,
            parameters=self.parameters,
            trainable_parameters=sum(p.numel() for p in self.model.modules().parameters() if p.requires_grad),
            metric=self.task.metric,
            baseline=baseline,
            baseline_score=score,
            device=torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU",
            precision="bfloat16" if self.half else "float32",
            threads=torch.get_num_threads(),
        )

    def _reason_to_stop(self) -> str:
        if self.should_stop():
            return "asked"
        return "time" if time.monotonic() - self.began > self.settings.max_seconds else ""

    def _logits(self, features: Sequence[Features]) -> tuple[torch.Tensor, Batch]:
        """(logits [batch, …] in float32, the batch)."""
        batch = collate(self.task, features, self.padding, self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            hidden = last_states(self.model.encoder, batch, self.compact.renumber(batch.input_ids))
            logits = self.task.logits(self.model.head, hidden, batch)
        return logits.float(), batch

    def _step(self, done: int, features: Sequence[Features]) -> tuple[float, float, float, float]:
        """One update: the batch's loss and score before it, the gradient's norm, the learning rate."""
        settings, began = self.settings, time.perf_counter()
        self.model.modules().train()
        rate = learning_rate(done, self.total_steps, settings.learning_rate, settings.warmup, settings.schedule)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        logits, batch = self._logits(features)
        loss = self.task.loss(logits, batch.targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.modules().parameters(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        score = self.task.batch_score(logits, batch.targets)
        values = torch.stack([loss.detach(), score, norm]).tolist()  # one wait for the device, not three
        self.training_seconds += time.perf_counter() - began
        return values[0], values[1], values[2], rate

    def _score(self, features: list[Features], split: str) -> Generator[Event, None, tuple[float, Answers]]:
        """The mean loss over `features` and the answer to each one, in their order."""
        self.model.modules().eval()
        answers: list[Any] = [None] * len(features)
        total, done, seconds = 0.0, 0, 0.0
        for rows in scoring_batches([feature.size for feature in features]):
            began = time.perf_counter()
            with torch.inference_mode():
                logits, batch = self._logits([features[i] for i in rows])
                total += self.task.loss(logits, batch.targets).item() * len(rows)
                found = self.task.answers(logits, batch)
            for index, answer in zip(rows, found, strict=True):
                answers[index] = answer
            done += len(rows)
            seconds += time.perf_counter() - began
            self.scoring_rate = done / seconds
            yield Scoring(split, done, len(features))
        return total / max(1, len(features)), answers

    def _look(self, step: int, losses: list[float]) -> Iterator[Event]:
        loss, answers = yield from self._score(self.validation_features, "validation")
        self.looked = [*self.looked[:1], (step, loss, answers)]
        train_loss = sum(losses) / len(losses) if losses else math.nan
        targets = [feature.target for feature in self.validation_features]
        yield self.task.look(step, step / self.steps_per_epoch, train_loss, loss, answers, targets)

    def _test(self, step: int) -> Generator[Event, None, Outcome]:
        looked, loss, answers = self.looked[-1]
        if not (self.watched_is_tested and looked == step):
            loss, answers = yield from self._score(self.test_features, "test")
        self.compact.restore(self.model.encoder, self.padding)
        keep(self.model, self.task, self.limit, self.folder)
        _, loss_before, before = self.looked[0]
        ended = Ended(
            loss=loss,
            loss_before=loss_before,
            steps=step,
            seconds=time.monotonic() - self.began,
            examples_per_second=self._speed(),
            folder=str(self.folder),
            before=before,
        )
        return self.task.outcome(self.dataset, answers, ended)

    def _speed(self) -> float:
        return self.examples_done / self.training_seconds if self.training_seconds else 0.0

    def _seconds_left(self, step: int, looks: int) -> float:
        to_score = looks * len(self.validation_features) + len(self.test_features) * (not self.watched_is_tested)
        steps = (self.total_steps - step) * self.training_seconds / step
        return steps + (to_score / self.scoring_rate if self.scoring_rate else 0.0)
