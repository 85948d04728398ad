"""Added or concatenated: both ways against torch, and the overlap of random directions against random draws."""

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from demos.bert.encoder.position_added import added_or_concatenated, mean_overlap, overlap


def test_a_sum_is_a_concatenation_whose_halves_share_a_matrix() -> None:
    rng = np.random.default_rng(3)
    word, position, weight = (rng.normal(size=size).astype(np.float32) for size in ((5, 12), (5, 12), (12, 4)))
    both = added_or_concatenated(word, position, weight)
    layer = torch.nn.Linear(24, 4, bias=False)
    layer.weight.data = torch.from_numpy(both.stacked.T.copy())
    reference = layer(torch.from_numpy(np.concatenate([word, position], axis=1))).detach().numpy()
    assert both.from_concatenation == pytest.approx(reference, abs=1e-5)
    assert both.from_sum == pytest.approx(word @ weight + position @ weight, abs=1e-5)
    assert both.difference < 1e-5
    assert (both.beside.shape, both.stacked.shape) == ((5, 24), (24, 4))


def test_the_overlap_is_the_mean_size_of_the_cosines() -> None:
    rng = np.random.default_rng(4)
    rows, others = rng.normal(size=(300, 64)), rng.normal(size=(200, 64))
    assert overlap(rows, others) == pytest.approx(np.abs(cosine_similarity(rows, others)).mean())
    assert overlap(rows, others) == pytest.approx(mean_overlap(64), rel=0.02)
    assert mean_overlap(2) == pytest.approx(2 / np.pi)  # the mean of |cos| over the circle
