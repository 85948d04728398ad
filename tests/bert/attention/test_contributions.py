"""Weight times length, and what stays of a token: against the same sums written out, and as the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention.contributions import staying_shares, value_lengths
from demos.bert.attention.head_profiles import habit_sentences
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model

LESSON = Path(__file__).resolve().parents[3] / "demos" / "lessons" / "attention"


def added(model: Any, run: Run, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All vectors a_ij W^O_h v_j, summed over the heads: <float>[n, n, d]; and their lengths without a_ij, [H, n]."""
    attention = model.encoder.layer[layer].attention
    states = torch.from_numpy(run.hidden_states[layer].copy())
    heads, width = run.num_heads, states.shape[1] // run.num_heads
    vectors, lengths = [], []
    for head in range(heads):
        rows = slice(head * width, (head + 1) * width)
        value = states @ attention.self.value.weight[rows].T + attention.self.value.bias[rows]
        sent = value @ attention.output.dense.weight[:, rows].T  # [n, d]
        vectors.append(torch.from_numpy(run.attentions[layer, head].copy())[:, :, None] * sent[None])
        lengths.append(sent.norm(dim=-1))
    return torch.stack(vectors).sum(dim=0), torch.stack(lengths)


@torch.inference_mode()
def test_lengths_and_shares_are_those_of_the_vectors_written_out(bundled: LoadedModel) -> None:
    (run,) = run_model(bundled, [encode(bundled.tokenizer, "Kettles sing in the rain.", "")])
    for layer in (0, 3, 5):
        pairs, lengths = added(bundled.model, run, layer)
        np.testing.assert_allclose(value_lengths(bundled, run, layer), lengths.numpy(), rtol=1e-4)
        output, norm = (
            getattr(bundled.model.encoder.layer[layer].attention.output, name) for name in ("dense", "LayerNorm")
        )
        states = torch.from_numpy(run.hidden_states[layer].copy())
        whole = states + pairs.sum(dim=1) + output.bias
        own = states + torch.stack([pairs[i, i] for i in range(len(states))])
        others = whole - output.bias - own

        def after(part: torch.Tensor, whole: torch.Tensor = whole, norm: Any = norm) -> torch.Tensor:
            """What LayerNorm makes of a part of its input, without its offset: linear once the deviation is known."""
            deviation = (whole.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
            return ((part - part.mean(dim=-1, keepdim=True)) / deviation * norm.weight).norm(dim=-1)

        np.testing.assert_allclose(
            staying_shares(bundled, run, layer), (after(own) / (after(own) + after(others))).numpy(), rtol=1e-4
        )
        parts = after(own + others + output.bias)  # with the bias they are all that LayerNorm gives but its offset
        np.testing.assert_allclose((norm(whole) - norm.bias).norm(dim=-1).numpy(), parts.numpy(), rtol=1e-4)


@pytest.fixture(scope="module")
def measured(bundled: LoadedModel) -> dict[str, np.ndarray]:
    """By layer [6], over the 60 sentences: special tokens' share of the weight and of weight x length, what stays."""
    found: dict[str, list[list[float]]] = {"weight": [], "length": [], "stays": []}
    for text, pair in habit_sentences():
        (run,) = run_model(bundled, [encode(bundled.tokenizer, text, pair)])
        special = np.array(run.encoding.special_tokens_mask, dtype=bool)
        products = [run.attentions[layer] * value_lengths(bundled, run, layer)[:, None] for layer in range(6)]
        found["weight"].append(run.attentions[..., special].sum(axis=-1).mean(axis=(1, 2)).tolist())
        found["length"].append([float((one[..., special].sum(-1) / one.sum(-1)).mean()) for one in products])
        found["stays"].append([float(staying_shares(bundled, run, layer).mean()) for layer in range(6)])
    return {name: np.array(values).mean(axis=0) for name, values in found.items()}


def test_special_tokens_get_much_weight_and_add_little(measured: dict[str, np.ndarray]) -> None:
    told = " ".join((LESSON / "heads" / "sources.md").read_text(encoding="utf-8").split())
    weight, length = (measured[name][1:5] for name in ("weight", "length"))
    assert (
        f"in layers 2 to 5, [CLS] and [SEP] together receive {weight.min() * 100:.0f} to {weight.max():.0%} of the "
        f"weight, but only {length.min() * 100:.0f} to {length.max():.0%} of the summed lengths"
    ).replace("%", " %") in told


def test_far_more_than_half_stays(measured: dict[str, np.ndarray]) -> None:
    told = " ".join((LESSON / "rollout" / "formula.md").read_text(encoding="utf-8").split())
    stays = measured["stays"]
    assert f"{stays.min() * 100:.0f} to {stays.max():.0%}, depending on the layer".replace("%", " %") in told
