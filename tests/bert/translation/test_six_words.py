"""The six words: cost and training against torch's cross-entropy and its optimizer."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from demos.bert.translation.six_words import RATE, STEPS, TARGET, WIDTH, WORDS, learned

RIGHT = torch.tensor([WORDS.index(word) for word in TARGET])


def test_targets_are_one_hot_and_costs_are_torchs_cross_entropy() -> None:
    found = learned()
    assert torch.equal(found.targets, one_hot(RIGHT, len(WORDS)).float())
    assert found.targets[1].tolist() == [0, 1, 0, 0, 0, 0]  # "am"
    for step in (0, 1, STEPS):
        logits = found.logits[step]
        torch.testing.assert_close(found.costs(step), cross_entropy(logits, RIGHT, reduction="none"))
        assert found.costs(step).sum().item() == pytest.approx(cross_entropy(logits, RIGHT, reduction="sum").item())
        torch.testing.assert_close(found.costs(step), -found.distributions(step)[range(5), RIGHT].log())


def test_each_step_is_that_of_torchs_gradient_descent() -> None:
    found = learned(20)
    layer = nn.Linear(WIDTH, len(WORDS))
    noise = torch.Generator().manual_seed(1)
    torch.testing.assert_close(found.states, torch.randn(5, WIDTH, generator=noise))
    layer.weight.data = torch.randn(len(WORDS), WIDTH, generator=noise) / WIDTH**0.5
    layer.bias.data.zero_()
    optimizer = torch.optim.SGD(layer.parameters(), lr=RATE)
    for step in range(21):
        logits = layer(found.states)
        torch.testing.assert_close(found.logits[step], logits.detach(), atol=1e-5, rtol=1e-4)
        optimizer.zero_grad()
        cross_entropy(logits, RIGHT, reduction="sum").backward()
        optimizer.step()


def test_training_lowers_the_sum_at_each_step_and_ends_with_the_right_words() -> None:
    found = learned()
    sums = torch.stack([found.costs(step).sum() for step in range(STEPS + 1)])
    assert (sums.diff() < 0).all()
    assert torch.equal(found.logits[-1].argmax(-1), RIGHT)
    assert not torch.equal(found.logits[0].argmax(-1), RIGHT)
    assert found.distributions(STEPS).max(-1).values.min() > 0.8
