"""The training loop: a generator of events that serves every task, on its own copy of the encoder."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

import torch
from torch import nn

from demos.errors import UserError
from demos.training.batches import scoring_batches, training_batches
from demos.training.data import Dataset
from demos.training.events import Epoch, Event, Failed, Finished, Mistake, Result, Scoring, Started, Step, Stopped
from demos.training.metrics import majority
from demos.training.model import CompactRows, Model, collate, keep, load_encoder, load_tokenizer
from demos.training.schedule import learning_rate
from demos.training.settings import Settings
from demos.training.task import Classification, Features, SeededDropout, Task

MAX_MISTAKES = 200


def train(
    dataset: Dataset,
    base: Path | str,
    settings: Settings,
    folder: Path | str,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Fine-tune a fresh copy of the encoder in `base` on `dataset`; the trained model is kept in `folder`.

    Yields Started, then an Epoch (the untrained state), a Step a batch with Epochs and Scorings between them, and at
    last one of Finished, Stopped (asked, or out of time) and Failed. `should_stop` is asked before each step. Nothing
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
        self, dataset: Dataset, base: Path, settings: Settings, folder: Path, should_stop: Callable[[], bool]
    ) -> None:
        self.began = time.monotonic()
        self.dataset, self.base, self.folder = dataset, base, folder
        self.settings = settings.check()
        self.should_stop = should_stop
        self.task: Task = Classification.of(dataset.labels, settings)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        # bfloat16 pays where the hardware multiplies in it; on other CPUs it is two to four times slower.
        self.half = self.device.type == "cuda" or torch.cpu._is_amx_tile_supported()
        self.order = torch.Generator().manual_seed(settings.seed)
        self.training_seconds = 0.0
        self.scoring_rate = 0.0  # sentences a second where no gradient is kept, measured at the first look

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
                loss, accuracy, norm, rate = self._step(step, [self.train_features[i] for i in batch])
                step += 1
                self.examples_done += len(batch)
                losses.append(loss)
                if not math.isfinite(loss) or not math.isfinite(norm):
                    raise UserError(f"The loss became infinite at step {step}; try a smaller learning rate.")
                left = self._seconds_left(step, sum(look > step for look in looks))
                speed = self._speed()
                yield Step(step, steps, step / self.steps_per_epoch, loss, accuracy, rate, norm, speed, left)
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
        data = self.dataset
        self.train_features = self.task.features(tokenizer, data.train, limit)
        self.validation_features = self.task.features(tokenizer, data.validation, limit)
        self.test_features = self.task.features(tokenizer, data.test, limit)
        self.everything = [*self.train_features, *self.validation_features, *self.test_features]
        self.lengths = [len(feature.input_ids) for feature in self.train_features]
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
        ids = (token for feature in self.everything for token in feature.input_ids)
        self.compact = CompactRows.shrink(encoder, ids, self.padding)
        self.optimizer = torch.optim.AdamW(
            parameter_groups(self.model.modules(), self.settings.weight_decay), lr=0.0, fused=True
        )

    def _started(self) -> Started:
        data = self.dataset
        label, accuracy = self._majority()
        return Started(
            labels=data.labels,
            train=len(data.train),
            validation=len(data.validation),
            test=len(data.test),
            cut=sum(feature.cut for feature in self.everything),
            total_steps=self.total_steps,
            steps_per_epoch=self.steps_per_epoch,
            parameters=self.parameters,
            trainable_parameters=sum(p.numel() for p in self.model.modules().parameters() if p.requires_grad),
            majority_label=data.labels[label],
            majority_accuracy=accuracy,
            device=torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU",
            precision="bfloat16" if self.half else "float32",
            threads=torch.get_num_threads(),
        )

    def _majority(self) -> tuple[int, float]:
        train = [example.label for example in self.dataset.train]
        return majority(train, [example.label for example in self.dataset.test], len(self.dataset.labels))

    def _reason_to_stop(self) -> str:
        if self.should_stop():
            return "asked"
        return "time" if time.monotonic() - self.began > self.settings.max_seconds else ""

    def _logits(self, features: Sequence[Features]) -> tuple[torch.Tensor, torch.Tensor]:
        """([batch, C] in float32, targets [batch])."""
        ids, mask, targets = collate(features, self.padding, self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            output = self.model.encoder(input_ids=self.compact.renumber(ids), attention_mask=mask)
            logits = self.task.logits(self.model.head, output.last_hidden_state, mask)
        return logits.float(), targets

    def _step(self, done: int, features: Sequence[Features]) -> tuple[float, float, float, float]:
        """One update: the batch's loss and accuracy before it, the gradient's norm, the learning rate."""
        settings, began = self.settings, time.perf_counter()
        self.model.modules().train()
        rate = learning_rate(done, self.total_steps, settings.learning_rate, settings.warmup, settings.schedule)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        logits, targets = self._logits(features)
        loss = self.task.loss(logits, targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.modules().parameters(), settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        accuracy = (logits.argmax(dim=-1) == targets).float().mean()
        values = torch.stack([loss.detach(), accuracy, norm]).tolist()  # one wait for the device, not three
        self.training_seconds += time.perf_counter() - began
        return values[0], values[1], values[2], rate

    def _score(
        self, features: list[Features], split: str
    ) -> Generator[Event, None, tuple[float, list[tuple[float, ...]]]]:
        """The mean loss over `features` and each one's probabilities, in their order."""
        self.model.modules().eval()
        probabilities: list[tuple[float, ...]] = [()] * len(features)
        total, done, seconds = 0.0, 0, 0.0
        for batch in scoring_batches([len(feature.input_ids) for feature in features]):
            began = time.perf_counter()
            with torch.inference_mode():
                logits, targets = self._logits([features[i] for i in batch])
                total += self.task.loss(logits, targets).item() * len(batch)
                rows = logits.softmax(dim=-1).tolist()
            for index, row in zip(batch, rows, strict=True):
                probabilities[index] = tuple(row)
            done += len(batch)
            seconds += time.perf_counter() - began
            self.scoring_rate = done / seconds
            yield Scoring(split, done, len(features))
        return total / max(1, len(features)), probabilities

    def _look(self, step: int, losses: list[float]) -> Iterator[Event]:
        loss, probabilities = yield from self._score(self.validation_features, "validation")
        right = [
            _argmax(row) == feature.target for row, feature in zip(probabilities, self.validation_features, strict=True)
        ]
        train_loss = sum(losses) / len(losses) if losses else math.nan
        yield Epoch(step, step / self.steps_per_epoch, train_loss, loss, sum(right) / max(1, len(right)))

    def _test(self, step: int) -> Generator[Event, None, Result]:
        loss, probabilities = yield from self._score(self.test_features, "test")
        predicted = [_argmax(row) for row in probabilities]
        targets = [feature.target for feature in self.test_features]
        scores = self.task.scores(targets, predicted)
        wrong = [
            Mistake(example.text, example.label, guess, row)
            for example, guess, row in zip(self.dataset.test, predicted, probabilities, strict=True)
            if guess != example.label
        ]
        wrong.sort(key=lambda mistake: -mistake.probabilities[mistake.predicted])
        self.compact.restore(self.model.encoder, self.padding)
        keep(self.model, self.task, self.limit, self.folder)
        label, accuracy = self._majority()
        return Result(
            labels=self.dataset.labels,
            accuracy=scores.accuracy,
            macro_f1=scores.macro_f1,
            loss=loss,
            majority_label=self.dataset.labels[label],
            majority_accuracy=accuracy,
            confusion=scores.confusion,
            mistakes=tuple(wrong[:MAX_MISTAKES]),
            steps=step,
            seconds=time.monotonic() - self.began,
            examples_per_second=self._speed(),
            folder=str(self.folder),
        )

    def _speed(self) -> float:
        return self.examples_done / self.training_seconds if self.training_seconds else 0.0

    def _seconds_left(self, step: int, looks: int) -> float:
        to_score = looks * len(self.validation_features) + len(self.test_features)
        steps = (self.total_steps - step) * self.training_seconds / step
        return steps + (to_score / self.scoring_rate if self.scoring_rate else 0.0)


def _argmax(row: Sequence[float]) -> int:
    return max(range(len(row)), key=row.__getitem__)
