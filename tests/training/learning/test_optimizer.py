"""One step of our optimizers against torch's own over groups made by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from demos.errors import UserError
from demos.training.learning.optimizer import clipped_step, make_optimizer, set_rate
from demos.training.learning.trainable import freeze
from demos.training.settings import Settings
from demos.training.tasks.heads import dense_head

RATE = 1e-3


@pytest.fixture(scope="module")
def model() -> nn.ModuleList:
    """A BERT of 3 layers with every weight drawn, biases and LayerNorms too, and a head of two layers."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=32)
    parts = nn.ModuleList([BertModel(config, add_pooling_layer=False), dense_head(16, (8,), "tanh", 0.0, 3, None)])
    for parameter in parts.parameters():
        parameter.data.normal_()
    return parts


def by_hand(parts: nn.ModuleList, decay: float) -> list[dict[str, Any]]:
    """Every parameter a group of its own, placed and decayed by its name alone."""
    groups = []
    for name, parameter in parts.named_parameters():
        if name.startswith("1."):
            share = 1.0
        elif "encoder.layer." in name:
            share = decay ** (3 - int(name.split("encoder.layer.")[1][0]))  # the top layer is number 2
        else:
            share = decay**4
        spared = name.endswith("bias") or "LayerNorm" in name or "embeddings" in name
        groups.append({"params": [parameter], "lr": RATE * share, "weight_decay": 0.0 if spared else 0.1})
    return groups


@pytest.mark.parametrize("name", ["adamw", "sgd"])
@pytest.mark.parametrize("decay", [1.0, 0.5])
def test_steps_are_torchs_over_groups_made_by_hand(name: str, decay: float, model: nn.ModuleList) -> None:
    ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
    settings = Settings(optimizer=name, layer_decay=decay, weight_decay=0.1)
    optimizer = make_optimizer(ours[0], ours[1], settings)
    groups = by_hand(theirs, decay)
    assert len({group["lr"] for group in groups}) == (1 if decay == 1 else 5)
    reference = (
        torch.optim.AdamW(groups, lr=RATE, fused=True)
        if name == "adamw"
        else torch.optim.SGD(groups, lr=RATE, momentum=0.9, fused=True)
    )
    for step in range(2):  # the second one reads what the first one left
        generator = torch.Generator().manual_seed(step)
        for parts in (ours, theirs):
            generator.manual_seed(step)
            for parameter in parts.parameters():
                parameter.grad = torch.randn(parameter.shape, generator=generator)
        set_rate(optimizer, RATE)
        optimizer.step()
        reference.step()
    moved = 0
    for (key, one), other, start in zip(ours.named_parameters(), theirs.parameters(), model.parameters(), strict=True):
        assert torch.equal(one, other), key
        moved += not torch.equal(one, start)
    assert moved == len(list(model.parameters()))


def test_adamw_moves_the_head_by_the_rate_and_the_embeddings_by_least(model: nn.ModuleList) -> None:
    """The first step of Adam moves each number by its rate (Kingma and Ba 2015, 2.1), so the moves tell the rates."""
    parts = copy.deepcopy(model)
    optimizer = make_optimizer(parts[0], parts[1], Settings(layer_decay=0.5, weight_decay=0.0))
    before = {name: parameter.detach().clone() for name, parameter in parts.named_parameters()}
    for parameter in parts.parameters():
        parameter.grad = torch.ones_like(parameter)
    set_rate(optimizer, RATE)
    optimizer.step()
    moves = {name: (before[name] - p.detach()).mean().item() / RATE for name, p in parts.named_parameters()}
    assert moves["1.1.weight"] == pytest.approx(1, rel=1e-3)
    assert moves["0.encoder.layer.2.output.dense.weight"] == pytest.approx(1 / 2, rel=1e-3)
    assert moves["0.encoder.layer.0.output.dense.weight"] == pytest.approx(1 / 8, rel=1e-3)
    assert moves["0.embeddings.word_embeddings.weight"] == pytest.approx(1 / 16, rel=1e-3)


def test_only_what_trains_is_held(model: nn.ModuleList) -> None:
    parts = copy.deepcopy(model)
    settings = Settings(trains="head")
    freeze(parts[0], settings)
    held = [p for group in make_optimizer(parts[0], parts[1], settings).param_groups for p in group["params"]]
    assert {id(p) for p in held} == {id(p) for p in parts[1].parameters()}
    with pytest.raises(UserError, match="Nothing would train"):
        make_optimizer(parts[0], nn.Identity(), settings)


@pytest.mark.parametrize("name", ["adamw", "sgd"])
@pytest.mark.parametrize("clip", [0.5, 1e4])
def test_a_clipped_step_is_torchs_clipping_and_step(name: str, clip: float, model: nn.ModuleList) -> None:
    ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
    settings = Settings(optimizer=name, weight_decay=0.1, clip=clip)
    optimizers = [make_optimizer(parts[0], parts[1], settings) for parts in (ours, theirs)]
    torch.manual_seed(1)
    for step in range(3):
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            mine.grad = torch.randn(mine.shape) * 10 ** (step - 1)
            other.grad = mine.grad.clone()
        for optimizer in optimizers:
            set_rate(optimizer, RATE)
        norm = clipped_step(optimizers[0], list(ours.parameters()), clip)
        wanted = nn.utils.clip_grad_norm_(list(theirs.parameters()), clip)
        optimizers[1].step()
        assert norm == wanted
        assert (norm > clip) == (clip < 1)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-7)
