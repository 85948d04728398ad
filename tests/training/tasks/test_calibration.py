"""Calibration is scikit-learn's curve, and the expected calibration error is its definition over that curve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from demos.training.metrics import calibration


@pytest.mark.parametrize("seed", range(4))
def test_the_bars_are_scikit_learns_calibration_curve(seed: int) -> None:
    random = np.random.default_rng(seed)
    sure = random.beta(4, 2, 300)
    sure[:4] = 0.3, 0.7, 0.5, 1.0  # on the bins' edges
    right = random.random(300) < sure**1.5
    found = calibration(sure.tolist(), right.tolist())
    accuracy, confidence = calibration_curve(right, sure, n_bins=10, strategy="uniform")
    filled = [one for one in found.bins if one.count]
    assert [one.accuracy for one in filled] == pytest.approx(accuracy.tolist())
    assert [one.confidence for one in filled] == pytest.approx(confidence.tolist())
    counts = np.array([one.count for one in filled])
    assert counts.sum() == 300
    assert found.error == pytest.approx(float((counts / 300 * np.abs(accuracy - confidence)).sum()))
