"""The training of a translator as a generator of plain events: the grammar's pairs in, looks at held-out ones out."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Self

import torch
from torch.nn.functional import cross_entropy

from demos.bert.translation.bundled import right_of
from demos.bert.translation.decoding import Trained, steps
from demos.bert.translation.grammar import HELD_OUT, SEED, Pair
from demos.bert.translation.gru import PADDING
from demos.bert.translation.tasks import FRENCH, TASKS, Task
from demos.bert.translation.translators import KINDS, TRANSFORMER, AnyTranslator, make
from demos.bert.translation.vocabulary import Vocabulary, padded, shifted
from demos.errors import UserError
from demos.training.events import Epoch, Event, Finished, Outcome, Started, Step, Stopped

PAIRS, BATCH, CLIP = 8_000, 64, 1.0
RATE, TRANSFORMER_RATE = 3e-3, 2e-3  # learning rates at their highest; the GRUs', and the Transformer's
FEWEST_STEPS, MOST_STEPS = 25, 1_500
EVERY = 25  # steps from look to look
LOOKED_AT = 200  # held-out pairs of a look; the end is measured on all
WARM_UP = 0.1  # of the steps, in which the rate rises
MAX_SECONDS = 180.0
METRIC = "share of correct sentences"


@dataclass(frozen=True)
class Plan:
    """The plan of a training."""

    score: str = "additive"
    steps: int = 500
    seed: int = 1
    task: str = FRENCH

    def check(self) -> Self:
        """Itself. Raises UserError for values out of bounds."""
        if self.score not in KINDS:
            raise UserError("Choose what is trained: additive, dot, none or transformer.")
        if self.task not in TASKS:
            raise UserError("Choose a task: french or dates.")
        if not FEWEST_STEPS <= self.steps <= MOST_STEPS or not 0 <= self.seed < 2**31:
            raise UserError(f"Choose {FEWEST_STEPS} to {MOST_STEPS:,} steps and a seed of 0 or more.")
        return self


@dataclass(frozen=True)
class Aligned:
    """The example sentence as the translator renders it by now."""

    step: int
    written: tuple[str, ...]  # m words, the end included
    weights: tuple[tuple[float, ...], ...]  # [m][n]


@dataclass(frozen=True)
class TranslationResult(Outcome):
    """The held-out sentences, each right or not."""

    right: tuple[bool, ...]

    @property
    def metrics(self) -> dict[str, float]:
        """The share that is right word by word."""
        return {METRIC: sum(self.right) / len(self.right)}


def train_translator(
    plan: Plan, should_stop: Callable[[], bool], example: Pair, keep: Callable[[Trained], object] = lambda _: None
) -> Iterator[Event | Aligned]:
    """Started, a Step a batch, every EVERY steps an Epoch and an Aligned, at last Finished or Stopped.

    `keep` is handed the translator at the end. Weights and batches depend on the plan alone.
    """
    task = TASKS[plan.task]
    pairs = task.sentences(HELD_OUT + PAIRS, SEED)
    trained = untrained(plan)
    model, train, looked_at = trained.model, pairs[HELD_OUT:], task.held_out()[:LOOKED_AT]
    highest = TRANSFORMER_RATE if plan.score == TRANSFORMER else RATE
    optimizer = torch.optim.Adam(model.parameters(), lr=highest)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, highest, total_steps=plan.steps + 1, pct_start=WARM_UP)
    yield _started(plan, model)
    yield _look(trained, looked_at, 0, float("nan"))
    yield _aligned(trained, example, 0)
    draw, began, looking = random.Random(plan.seed), time.monotonic(), 0.0
    losses: list[float] = []
    for step in range(1, plan.steps + 1):
        loss, norm = _step(model, optimizer, trained, draw.sample(train, BATCH))
        rate = schedule.get_last_lr()[0]
        schedule.step()
        losses.append(loss)
        seconds = time.monotonic() - began - looking
        speed = step * BATCH / seconds
        left = (plan.steps - step) * seconds / step
        yield Step(step, plan.steps, step * BATCH / PAIRS, loss, float("nan"), rate, norm, speed, left)
        reason = "asked" if should_stop() else "time" if seconds > MAX_SECONDS else ""
        if step % EVERY == 0 or step == plan.steps or reason:
            looked = time.monotonic()
            yield _look(trained, looked_at, step, sum(losses) / len(losses))
            yield _aligned(trained, example, step)
            losses.clear()
            looking += time.monotonic() - looked
        if reason:
            break
    result = _result(trained, task, step, seconds)
    keep(trained)
    yield Stopped(result, reason) if reason and step < plan.steps else Finished(result)


@cache
def vocabularies(task: str) -> tuple[Vocabulary, Vocabulary]:
    """The words of a task's pairs, those read and those written."""
    pairs = TASKS[task].sentences(HELD_OUT + PAIRS, SEED)
    return Vocabulary.of(pair.source for pair in pairs), Vocabulary.of(pair.target for pair in pairs)


def untrained(plan: Plan) -> Trained:
    """The plan's translator before its first step."""
    source, target = vocabularies(plan.task)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        return Trained(make(plan.score, len(source), len(target)), source, target)


def _step(
    model: AnyTranslator, optimizer: torch.optim.Optimizer, trained: Trained, batch: list[Pair]
) -> tuple[float, float]:
    """(loss, norm of the gradient before clipping)."""
    loss = _loss(trained, batch)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    return loss.item(), norm.item()


def _loss(trained: Trained, pairs: list[Pair] | tuple[Pair, ...]) -> torch.Tensor:
    """Cross-entropy, the mean over all words that are to be written."""
    inputs, targets = shifted([pair.target for pair in pairs], trained.target)
    logits = trained.model(padded([pair.source for pair in pairs], trained.source), inputs)
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PADDING)


def _look(trained: Trained, pairs: tuple[Pair, ...], step: int, train_loss: float) -> Epoch:
    with torch.inference_mode():
        loss = _loss(trained, pairs).item()
    right = right_of(trained, pairs)
    return Epoch(step, step * BATCH / PAIRS, train_loss, loss, sum(right) / len(right))


def _aligned(trained: Trained, example: Pair, step: int) -> Aligned:
    written, decoded = steps(trained, example.source)
    return Aligned(step, written, tuple(map(tuple, decoded.weights[0].tolist())))


def _started(plan: Plan, model: AnyTranslator) -> Started:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return Started(
        labels=(),
        train=PAIRS,
        validation=LOOKED_AT,
        test=HELD_OUT,
        cut=0,
        total_steps=plan.steps,
        steps_per_epoch=PAIRS // BATCH,
        parameters=parameters,
        trainable_parameters=parameters,
        metric=METRIC,
        baseline="",
        baseline_score=0.0,
        baseline_watched=0.0,
        device="cpu",
        precision="float32",
        threads=torch.get_num_threads(),
    )


def _result(trained: Trained, task: Task, step: int, seconds: float) -> TranslationResult:
    pairs = task.held_out()
    with torch.inference_mode():
        loss = _loss(trained, pairs).item()
    right = right_of(trained, pairs)
    return TranslationResult(
        loss=loss, steps=step, seconds=seconds, examples_per_second=step * BATCH / seconds, folder="", right=right
    )
