"""Rotary positions are transformers' own, and a product depends on the distance alone."""

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.modernbert.modeling_modernbert import apply_rotary_pos_emb

from demos.bert.encoder.rotary import frequencies, rotated

WIDTH = 64


def test_a_rotated_vector_is_that_of_transformers() -> None:
    query, key = torch.randn(2, 1, 1, 30, WIDTH, generator=torch.Generator().manual_seed(1))
    config = LlamaConfig(hidden_size=WIDTH, num_attention_heads=1, rope_theta=10_000.0)
    cos, sin = LlamaRotaryEmbedding(config)(query, torch.arange(30)[None])
    theirs = apply_rotary_pos_emb(query, key, cos, sin)
    for before, after in zip((query, key), theirs, strict=True):
        ours = [rotated(vector, position) for position, vector in enumerate(before[0, 0].numpy())]
        np.testing.assert_allclose(ours, after[0, 0].numpy(), atol=1e-5)
        np.testing.assert_array_equal(rotated(before[0].numpy(), np.arange(30))[0], ours)


@pytest.mark.parametrize("base", [10_000.0, 160_000.0])
def test_a_product_depends_on_the_distance_alone(base: float) -> None:
    query, key = np.random.default_rng(2).normal(size=(2, WIDTH))
    for distance in (-7, 0, 3):
        scores = [rotated(query, at, base) @ rotated(key, at + distance, base) for at in (0, 1, 11, 8_000)]
        np.testing.assert_allclose(scores, scores[0], rtol=1e-9)
    assert not np.isclose(
        rotated(query, 0, base) @ rotated(key, 3, base), rotated(query, 0, base) @ rotated(key, 4, base)
    )
    assert np.linalg.norm(rotated(query, 9, base)) == pytest.approx(np.linalg.norm(query))
    angles = frequencies(WIDTH, base)
    assert (angles[0], len(angles)) == (1, WIDTH // 2)
    assert (np.diff(angles) < 0).all()
