"""The network in assets/ is as good as its page says, and the command trains and measures one."""

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from demos.bert.recurrent.bundled import FILE, bundled, load
from demos.bert.translation.gru import END
from demos.training.recurrent.training import ADDED, cross_entropy_of, texts, train


def test_the_stored_figures_are_those_of_the_stored_weights() -> None:
    """Computed again word by word: the network with torch's own layers, the bigram model with a table of counts."""
    trained, (train_on, held_out) = bundled(), texts()
    network, ids = trained.network, trained.vocabulary.ids
    counts = np.full((len(ids), len(ids) - END), ADDED)
    for sentence in train_on:
        for first, second in pairwise(["<s>", *sentence, "</s>"]):
            counts[ids[first], ids[second] - END] += 1
    shares = counts / counts.sum(1, keepdims=True)
    costs, of_pairs = [], []
    for sentence in held_out:
        words = [ids[word] for word in ("<s>", *sentence, "</s>")]
        with torch.inference_mode():
            states, _ = network.recurrent(network.words(torch.tensor(words[:-1])))
            predicted = network.output(states).log_softmax(-1)
        costs += [-predicted[at, word - END].item() for at, word in enumerate(words[1:])]
        of_pairs += [-math.log(shares[first, second - END]) for first, second in pairwise(words)]
    assert trained.measured["cross_entropy"] == pytest.approx(np.mean(costs), abs=1e-4)
    assert trained.measured["of_pairs"] == pytest.approx(np.mean(of_pairs), abs=1e-9)
    assert (trained.measured["held_out"], trained.measured["trained_on"]) == (len(held_out), len(train_on))
    assert trained.measured["cross_entropy"] < trained.measured["of_pairs"] - 0.3


def test_no_sentence_is_in_both_halves() -> None:
    train_on, held_out = texts()
    assert not {*map(tuple, train_on)} & {*map(tuple, held_out)}


def test_the_readme_has_the_same_figures() -> None:
    text, measured = FILE.with_name("README.md").read_text(encoding="utf-8"), bundled().measured
    parameters = sum(weights.numel() for weights in bundled().network.parameters())
    assert f"{parameters:,} parameters" in text
    for loss in (measured["cross_entropy"], measured["of_pairs"]):
        assert f"{loss:.3f} nats" in text
        assert f"perplexity {math.exp(loss):.2f}" in text
    assert FILE.stat().st_size < 40_000


def test_a_network_learns() -> None:
    _, held_out = texts()
    first, later = (cross_entropy_of(train(steps), held_out).item() for steps in (1, 60))
    assert later < first - 2


def test_the_command_writes_a_network_and_its_figures(tmp_path: Path) -> None:
    file = tmp_path / "new" / "rnn.safetensors"
    command = [sys.executable, "-m", "demos.training.recurrent", str(file), "--steps", "3"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    trained = load(file)
    assert str(trained.measured) == printed.strip()
    assert trained.measured["cross_entropy"] > 2
