"""What the ledger is made of, by itself, against torch and transformers: masks, activations, a norm, plain loops."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers.activations import ACT2FN

from demos.bert.encoder import attention_loop as loop_module
from demos.bert.encoder.attention_loop import attention_loop, attention_matrix, measure
from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.encoder.norm_and_feed_forward import activation, gelu, layer_norm
from demos.bert.encoder.self_attention import visible
from demos.bert.model.layer_weights import Norm
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache


def test_visible() -> None:
    assert visible(3).all()
    assert visible(3, causal=True).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert visible(3, padding=1).tolist() == [[True, True, False]] * 3
    assert visible(3, causal=True, padding=1).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, False],
    ]


def test_gelu_is_the_exact_one() -> None:
    x = np.concatenate([np.linspace(-9, 9, 2_001), [0.0, -40.0, 300.0]]).astype(np.float32)
    np.testing.assert_allclose(gelu(x), F.gelu(torch.from_numpy(x)).numpy(), atol=1e-6)
    assert gelu(np.array([1.0]))[0] == pytest.approx(0.5 * (1 + math.erf(1 / math.sqrt(2))), abs=1e-15)
    assert np.abs(gelu(x) - F.gelu(torch.from_numpy(x), approximate="tanh").numpy()).max() > 1e-4


@pytest.mark.parametrize("name", ["gelu", "gelu_new", "gelu_pytorch_tanh", "relu"])
def test_activations_are_transformers_own(name: str) -> None:
    x = np.linspace(-6, 6, 301, dtype=np.float32)
    np.testing.assert_allclose(activation(name)(x), ACT2FN[name](torch.from_numpy(x)).numpy(), atol=1e-6)


def test_layer_norm_is_torchs_own() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(3, 20, (7, 48)).astype(np.float32)
    x[2] = 5  # no deviation: epsilon alone keeps it from dividing by zero
    gain, offset = generator.normal(size=(2, 48)).astype(np.float32)
    ours = layer_norm(Norm(gain, offset, 1e-5), x)
    theirs = F.layer_norm(torch.from_numpy(x), (48,), torch.from_numpy(gain), torch.from_numpy(offset), eps=1e-5)
    np.testing.assert_allclose(ours.result, theirs.numpy(), atol=1e-5)
    np.testing.assert_allclose(ours.result[2], offset, atol=1e-6)


@pytest.mark.parametrize("width", [4, 64])
def test_loops_and_matrices_are_one(width: int) -> None:
    q, k, v = np.random.default_rng(width).normal(size=(3, 13, width)).astype(np.float32)
    loops = np.array(attention_loop(q.tolist(), k.tolist(), v.tolist()))
    np.testing.assert_allclose(loops, attention_matrix(q, k, v), atol=1e-6)
    theirs = F.scaled_dot_product_attention(*(torch.from_numpy(part[None]) for part in (q, k, v)))[0]
    np.testing.assert_allclose(loops, theirs.numpy(), atol=1e-6)


def test_the_loops_and_the_matrices_of_a_real_head(bundled: LoadedModel) -> None:
    ledger = layer_ledger(bundled, RunCache().get(bundled, "The old miller counted his sacks twice."), 3)
    for head in range(12):
        q, k, v = (part[head] for part in (ledger.attention.query, ledger.attention.key, ledger.attention.value))
        np.testing.assert_allclose(
            attention_loop(q.tolist(), k.tolist(), v.tolist()), ledger.attention.z[head], atol=1e-5
        )


def test_times_are_measured_within_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of the test's own, on which the loops take a microsecond for each query and key."""
    now = 0.0

    def loops(query: list[list[float]], *rest: list[list[float]]) -> list[list[float]]:
        nonlocal now
        now += len(query) ** 2 / 1e6
        return attention_loop(query, *rest)

    monkeypatch.setattr(loop_module, "attention_loop", loops)
    for budget, reached in ((0.0, [8, 16]), (0.02, [8, 16, 32, 64]), (0.05, [8, 16, 32, 64, 128])):
        began = now
        times = measure(16, budget=budget, clock=lambda: now)
        assert list(times.matrix) == [8, 16, 32, 64, 128, 256, 512]
        assert list(times.loop) == reached  # growth takes two, however slow the machine
        assert list(times.loop.values()) == pytest.approx([n**2 / 1e6 for n in reached])
        assert now - began <= budget or len(reached) == 2
        assert 0 < times.difference <= 1e-6


def test_times_are_those_of_this_machine() -> None:
    times = measure(16, budget=0.0)
    assert all(seconds > 0 for seconds in (*times.loop.values(), *times.matrix.values()))
