"""Steps of our optimizers against torch's own over groups made by hand."""

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


def by_hand(parts: nn.ModuleList) -> list[dict[str, Any]]:
    """Every parameter a group of its own, decayed by its name alone."""
    groups = []
    for name, parameter in parts.named_parameters():
        spared = name.endswith("bias") or "LayerNorm" in name or "embeddings" in name
        groups.append({"params": [parameter], "weight_decay": 0.0 if spared else 0.1})
    return groups


@pytest.mark.parametrize("name", ["adamw", "sgd"])
def test_steps_are_torchs_over_groups_made_by_hand(name: str, model: nn.ModuleList) -> None:
    ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
    optimizer = make_optimizer(ours[0], ours[1], Settings(optimizer=name, weight_decay=0.1))
    set_rate(optimizer, RATE)
    groups = by_hand(theirs)
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
        optimizer.step()
        reference.step()
    moved = 0
    for (key, one), other, start in zip(ours.named_parameters(), theirs.parameters(), model.parameters(), strict=True):
        assert torch.equal(one, other), key
        moved += not torch.equal(one, start)
    assert moved == len(list(model.parameters()))


def test_only_what_trains_is_held(model: nn.ModuleList) -> None:
    parts = copy.deepcopy(model)
    settings = Settings(trains="head")
    freeze(parts[0], settings)
    held = [p for group in make_optimizer(parts[0], parts[1], settings).param_groups for p in group["params"]]
    assert {id(p) for p in held} == {id(p) for p in parts[1].parameters()}
    with pytest.raises(UserError, match="There is nothing to train"):
        make_optimizer(parts[0], nn.Identity(), settings)


@pytest.mark.parametrize("name", ["adamw", "sgd"])
@pytest.mark.parametrize("clip", [0.5, 1e4])
def test_a_clipped_step_is_torchs_clipping_and_step(name: str, clip: float, model: nn.ModuleList) -> None:
    ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
    settings = Settings(optimizer=name, weight_decay=0.1, clip=clip)
    optimizers = [make_optimizer(parts[0], parts[1], settings) for parts in (ours, theirs)]
    for optimizer in optimizers:
        set_rate(optimizer, RATE)
    torch.manual_seed(1)
    for step in range(3):
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            mine.grad = torch.randn(mine.shape) * 10 ** (step - 1)
            other.grad = mine.grad.clone()
        norm = clipped_step(optimizers[0], list(ours.parameters()), clip)
        wanted = nn.utils.clip_grad_norm_(list(theirs.parameters()), clip)
        optimizers[1].step()
        assert norm == wanted
        assert (norm > clip) == (clip < 1)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-7)
