"""The strongest sources against a plain search."""

import numpy as np
import pytest

from demos.bert.attention.strongest import share_of, strongest_sources


def test_as_a_plain_search_finds_them() -> None:
    attentions = np.random.default_rng(0).dirichlet(np.ones(7), size=(3, 4, 7)).astype(np.float32)  # [L, H, n, n]
    before = attentions.copy()
    sources, weights = strongest_sources(attentions, 3, [0, 6])
    assert sources.shape == weights.shape == (3, 7, 3)
    special = 0.0
    for layer in range(3):
        for token in range(7):
            mean = {key: sum(attentions[layer, head, token, key] for head in range(4)) / 4 for key in range(7)}
            special += mean.pop(0) + mean.pop(6)
            best = sorted(mean, key=mean.__getitem__, reverse=True)[:3]
            assert sources[layer, token].tolist() == best
            assert weights[layer, token].tolist() == pytest.approx([mean[key] for key in best])
    assert share_of(attentions, [0, 6]) == pytest.approx(special / 21)
    assert share_of(attentions, []) == 0
    some, _ = strongest_sources(attentions[:, :, :2], 3, [0, 6])
    assert (some == sources[:, :2]).all()
    assert (attentions == before).all()  # what all readers share


def test_fewer_tokens_than_asked_for_and_none_left() -> None:
    attentions = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    assert strongest_sources(attentions, 3)[1].tolist() == [[[0.5, 0.5], [0.5, 0.5]]]
    sources, weights = strongest_sources(attentions, 3, [0, 1])
    assert (sources.shape, weights.max(), share_of(attentions, [0, 1])) == ((1, 2, 2), 0, 1)
