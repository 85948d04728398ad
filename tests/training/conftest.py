"""A tiny encoder on disk and a small two-class data set, so that a whole training takes a second."""

from pathlib import Path

import pytest

from demos.bert.model.models import LoadedModel
from demos.training.data.tables import Row
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, build_dataset

WORDS = ["river", "bank", "stone", "paper", "green", "slow", "window", "seven", "north", "yesterday", "of", "under"]


@pytest.fixture(scope="session")
def base(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's folder, as a store would hand it out."""
    folder = tmp_path_factory.mktemp("tiny-bert")
    tiny.model.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    """96 sentences of 3 to 12 words; the word "good" or "bad" somewhere in it is the class."""
    rows = []
    for number in range(96):
        label = ("bad", "good")[number % 2]
        words = [WORDS[(number * k + k) % len(WORDS)] for k in range(1, 3 + number % 10)]
        words.insert(number % len(words), label)
        rows.append(Row(number + 1, f"{' '.join(words)} {number}", label))
    return build_dataset("good or bad", rows, seed=0)


@pytest.fixture(scope="session")
def quick() -> Settings:
    """Two epochs of small batches on one thread, exact, at a rate a random encoder of width 32 learns with."""
    return Settings(epochs=2, batch_size=8, learning_rate=3e-3, max_length=24, threads=1)
