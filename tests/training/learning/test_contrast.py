"""Learning from pairs: the loss by hand, the head against scikit-learn's regression, and a whole run."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from demos.errors import UserError
from demos.training.events import Finished, Started
from demos.training.learning.contrast import fit_linear, pair_loss
from demos.training.learning.model import Trained, collate, last_states
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


def test_the_loss_is_that_of_all_pairs_by_hand() -> None:
    vectors = torch.randn(5, 7, generator=torch.Generator().manual_seed(0)).double()
    classes = [0, 1, 0, 2, 0]
    same, other = [], []
    for a, b in itertools.combinations(range(5), 2):
        cosine = float(vectors[a] @ vectors[b] / (vectors[a].norm() * vectors[b].norm()))
        (same if classes[a] == classes[b] else other).append((cosine - (classes[a] == classes[b])) ** 2)
    assert (len(same), len(other)) == (3, 7)
    expected = (sum(same) / 3 + sum(other) / 7) / 2
    assert pair_loss(vectors, torch.tensor(classes)).item() == pytest.approx(expected, abs=1e-6)
    assert pair_loss(vectors[:2], torch.tensor([0, 1])).item() == pytest.approx(other[0])
    assert pair_loss(vectors[:1], torch.tensor([0])).item() == 0


@pytest.mark.parametrize("classes", [2, 3])
def test_the_head_is_scikit_learns_regression(classes: int) -> None:
    rng = np.random.default_rng(0)
    vectors, targets = rng.normal(size=(30, 4)).astype(np.float32), np.arange(30) % classes
    linear = nn.Linear(4, classes)
    fit_linear(linear, vectors, targets)
    expected = LogisticRegression(max_iter=1_000).fit(vectors, targets).predict_proba(vectors)
    found = linear(torch.from_numpy(vectors)).softmax(dim=-1).detach().numpy()
    assert np.abs(found - expected).max() < 1e-5


def test_a_run_ends_with_the_regression_on_its_own_vectors(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    settings = dataclasses.replace(quick, contrast=True, epochs=1)
    *events, finished = train(dataset, base, settings, tmp_path / "run")
    assert isinstance(events[0], Started)
    assert isinstance(finished, Finished), finished
    trained = Trained.read(tmp_path / "run")
    vectors = []
    for example in (*dataset.train, *dataset.test):
        (feature,) = trained.task.features(trained.model.tokenizer, [example], 24)
        batch = collate(trained.task, [feature], 0, "cpu")
        with torch.inference_mode():
            vectors.append(last_states(trained.model.encoder, batch).mean(dim=1)[0].numpy())
    learned = len(dataset.train)
    model = LogisticRegression(max_iter=1_000).fit(vectors[:learned], [example.label for example in dataset.train])
    expected = model.predict_proba(vectors[learned:])
    found = np.array(trained.predict([example.text for example in dataset.test]))
    assert np.abs(found - expected).max() < 1e-3
    with pytest.raises(UserError, match="no dense layers"):
        dataclasses.replace(settings, hidden=(8,)).check()
