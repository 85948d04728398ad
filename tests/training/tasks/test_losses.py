"""The loss against its formulas: weights as scikit-learn balances them, skipped positions, exact means."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_class_weight

from demos.training.events import Epoch
from demos.training.learning.model import Trained
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.heads import class_weights, loss_of, units_of
from demos.training.tasks.task import NO_LABEL

LOGITS = torch.tensor([[[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]], [[-3.0, 4.0, 1.0], [9.0, 9.0, 9.0]]])  # [2, 2, 3]
TARGETS = torch.tensor([[0, 2], [1, NO_LABEL]])


def test_weights_are_those_that_scikit_learn_balances_by() -> None:
    labels = [0] * 7 + [1] * 2 + [2]
    assert class_weights([7, 2, 1]) == pytest.approx(
        compute_class_weight("balanced", classes=np.arange(3), y=labels).tolist()
    )


@pytest.mark.parametrize("weights", [(), (0.5, 2.0, 1.5)])
def test_the_loss_is_its_formula(weights: tuple[float, ...]) -> None:
    chances = np.exp(LOGITS.double().numpy())
    chances /= chances.sum(axis=-1, keepdims=True)
    total = count = 0.0
    scale = weights or (1.0, 1.0, 1.0)
    for row, target in (((0, 0), 0), ((0, 1), 2), ((1, 0), 1)):
        total -= scale[target] * np.log(chances[row][target])
        count += scale[target]
    assert loss_of(LOGITS, TARGETS, weights).item() == pytest.approx(total / count, abs=1e-6)
    assert units_of(TARGETS, weights) == pytest.approx(count)


def test_a_look_s_loss_is_the_mean_over_all_examples_whatever_the_batches(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of two or three sentences, weighted: the mean of their means would be another number."""
    monkeypatch.setattr("demos.training.learning.batches.SCORING_TOKENS", 30)
    lopsided = dataclasses.replace(
        dataset,
        train=tuple(e for i, e in enumerate(dataset.train) if e.label or i % 3 == 0),
        validation=dataset.validation[:5],
    )
    settings = dataclasses.replace(quick, class_weights=True, epochs=1, evaluations=1)
    looks = [event for event in train(lopsided, base, settings, tmp_path / "run") if isinstance(event, Epoch)]
    weights = class_weights(lopsided.counts("train"))
    assert weights[0] > 1 > weights[1]
    rows = np.array(Trained.read(tmp_path / "run").predict([example.text for example in lopsided.validation]))
    rows /= rows.sum(axis=1, keepdims=True)
    targets = [example.label for example in lopsided.validation]
    of_each = [weights[target] for target in targets]
    assert looks[-1].validation_loss == pytest.approx(log_loss(targets, rows, sample_weight=of_each), abs=1e-5)
