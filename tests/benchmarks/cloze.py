"""A cloze prompt as a classifier: accuracy with 0 to 8 solved examples a class, beside fine-tuning on the same ones.

Prints a line a method and number of examples: the mean over the draws and their standard deviation. The data are our
own remarks, or SST-2's train.tsv and dev.tsv (sentence TAB 0 or 1) in a folder. `--write` writes
assets/data/cloze.json, which the page draws.

    python tests/benchmarks cloze [--draws N] [--sst2 FOLDER] [--write]
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import torch

from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.pretraining.cloze import (
    LABEL_WORDS,
    PATTERNS,
    Solved,
    drawn,
    encoded_prompt,
    gap_of,
    label_ids,
    read_prompts,
)
from demos.bert.pretraining.heads import Pretrained, our_heads
from demos.files import DATA
from demos.training.events import Finished
from demos.training.loop import train
from demos.training.presets import PRESETS
from demos.training.settings import Settings
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.classification.data import Dataset, Example

PATTERN, WORDS = PATTERNS[0], LABEL_WORDS[0]
EACH = (1, 4, 8)  # solved examples of each class
EPOCHS, RATE = 20, 1e-4  # of both fine-tunings that are not a recipe of the page
POSITIVE = 1  # the class's index in the data
MOST_WORDS = 20  # of an SST-2 sentence that is drawn: sixteen of them and the test sentence fit into 512 tokens
ALL = 100_000  # training examples: more than any of the files has
STORE = ModelStore()


def solved_of(examples: Sequence[Example]) -> list[Solved]:
    return [Solved(example.text, example.label == POSITIVE) for example in examples]


def share_right(log_odds: Sequence[float], test: Sequence[Solved], threshold: float = 0.0) -> float:
    """How many are on their own class's side of the threshold."""
    return fmean((value > threshold) is example.positive for value, example in zip(log_odds, test, strict=True))


def prompted(pretrained: Pretrained, shown: Sequence[Solved], test: Sequence[Solved]) -> dict[str, float]:
    """By the larger probability; and by the larger gain over the same input without a text."""
    readings = read_prompts(pretrained, [*(example.text for example in test), ""], shown, PATTERN, WORDS)
    *log_odds, without = [reading.log_odds for reading in readings]
    return {"probability": share_right(log_odds, test), "gain": share_right(log_odds, test, without)}


def tuned_with_prompt(
    pretrained: Pretrained, examples: Sequence[Solved], test: Sequence[Solved], epochs: int, seed: int
) -> float:
    """All weights trained so that the right label word is the more probable one (Gao et al. 2021, section 4)."""
    torch.manual_seed(seed)
    encoder = replace(pretrained.encoder, model=copy.deepcopy(pretrained.encoder.model).requires_grad_(True))
    learner = replace(pretrained, encoder=encoder, transform=copy.deepcopy(pretrained.transform))
    tokenizer = learner.tokenizer
    ids = list(label_ids(tokenizer, WORDS))
    parameters = [*encoder.model.parameters(), *learner.transform.requires_grad_(True).parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE)
    order = random.Random(seed)
    for _ in range(epochs):
        shuffled = order.sample(list(examples), len(examples))
        for start in range(0, len(shuffled), PRESETS["quick"].settings.batch_size):
            batch = shuffled[start : start + PRESETS["quick"].settings.batch_size]
            encodings = [encoded_prompt(tokenizer, example.text, (), PATTERN, WORDS) for example in batch]
            gaps = [gap_of(tokenizer, encoding) for encoding in encodings]
            hidden = encoder.model(**model_inputs(encoder, encodings)).last_hidden_state[range(len(batch)), gaps]
            logits = learner.word_logits(hidden)[:, ids]  # [b, 2]
            target = torch.tensor([0 if example.positive else 1 for example in batch])
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits, target).backward()
            optimizer.step()
    encoder.model.eval().requires_grad_(False)
    readings = read_prompts(learner, [example.text for example in test], (), PATTERN, WORDS)
    return share_right([reading.log_odds for reading in readings], test)


def fine_tuned(data: Dataset, examples: Sequence[Solved], settings: Settings) -> float:
    """The page's own training on these examples; accuracy on the test split."""
    chosen = tuple(Example(example.text, int(example.positive)) for example in examples)
    part = replace(data, train=chosen, validation=data.validation[:6])
    with tempfile.TemporaryDirectory() as home:
        *_, ended = train(part, STORE.folder(BUNDLED), settings, Path(home) / "run")
    assert isinstance(ended, Finished), ended
    result: Any = ended.result
    return float(result.accuracy)


def measured(data: Dataset, draws: int, short: bool = False) -> dict[str, dict[str, list[float]]]:
    """By method and number of examples of each class, an accuracy a draw."""
    pretrained = our_heads(STORE.get(BUNDLED))
    pool, test = solved_of(data.train), solved_of(data.test)
    epochs, few = (1, replace(PRESETS["few"].settings, epochs=1)) if short else (EPOCHS, PRESETS["few"].settings)
    found: dict[str, dict[str, list[float]]] = {}

    def add(method: str, each: int, accuracy: float) -> None:
        found.setdefault(method, {}).setdefault(str(each), []).append(round(accuracy, 4))

    for method, accuracy in prompted(pretrained, (), test).items():
        add(method, 0, accuracy)
    for each in (1,) if short else EACH:
        for draw in range(draws):
            shown = drawn(pool, each, draw)
            for method, accuracy in prompted(pretrained, shown, test).items():
                add(method, each, accuracy)
            add("tuned_with_prompt", each, tuned_with_prompt(pretrained, shown, test, epochs, draw))
            plain = replace(PRESETS["quick"].settings, epochs=epochs, learning_rate=RATE, evaluations=1, seed=draw)
            add("fine_tuned", each, fine_tuned(data, shown, plain))
            add("few", each, fine_tuned(data, shown, replace(few, evaluations=1, seed=draw)))
        for method, by_number in found.items():
            scores = by_number[str(each)]
            print(f"{each} a class, {method}: {fmean(scores):.3f} ± {pstdev(scores):.3f}", flush=True)
    return found


def sst2(folder: Path) -> Dataset:
    """The public sentences: train to draw examples from, dev to test on."""
    data: Any = load_file("sentence", folder / "train.tsv", folder / "dev.tsv", 0, ALL)
    return replace(data, train=tuple(row for row in data.train if len(row.text.split()) <= MOST_WORDS))


def main(short: bool = False, options: Sequence[str] = ()) -> None:
    """The table; with --write also the page's sample."""
    write = "--write" in options
    rest = [option for option in options if option != "--write"]
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    data: Any = sst2(Path(given["--sst2"])) if "--sst2" in given else SOURCES["sentiment"].load(0, 2_000)
    assert data.labels[POSITIVE] in ("positive", "1")
    if short:
        data = replace(data, test=data.test[:4])
    draws = 1 if short else int(given.get("--draws", 10))
    found = measured(data, draws, short)
    for method in ("probability", "gain"):
        print(f"no example, {method}: {found[method]['0'][0]:.3f}")
    if write:
        document = {
            "command": f"python tests/benchmarks cloze --draws {draws} --write",
            "day": time.strftime("%Y-%m-%d"),
            "model": STORE.spec(BUNDLED).title,
            "pattern": PATTERN,
            "label_words": WORDS,
            "test": len(data.test),
            "accuracy": found,
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (DATA / "cloze.json").write_text(text + "\n", encoding="utf-8")
