"""A vocabulary of six words and one sentence to write: targets, a softmax layer, and its gradient descent.

The smallest case of what every translator here learns with. V = 6 words, m = 5 places, d numbers a state.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

WORDS = ("a", "am", "i", "thanks", "student", "<eos>")  # ids 0 to 5
TARGET = ("i", "am", "a", "student", "<eos>")
WIDTH, SEED, RATE, STEPS = 8, 1, 0.02, 300  # RATE: of the gradient of the sum over all places


@dataclass(frozen=True)
class Learned:
    """A softmax layer before its training and after each step of it."""

    states: Tensor  # [m, d], what the layer is given at each place
    targets: Tensor  # [m, V], one-hot rows
    logits: Tensor  # [steps + 1, m, V]

    def distributions(self, step: int) -> Tensor:
        """[m, V], after so many steps: softmax of the logits."""
        return self.logits[step].softmax(-1)

    def costs(self, step: int) -> Tensor:
        """[m]: the cross-entropy of each place, -sum of q ln p, which is -ln p of the right word."""
        return -(self.targets * self.logits[step].log_softmax(-1)).sum(-1)


def learned(steps: int = STEPS, seed: int = SEED) -> Learned:
    """Plain gradient descent on the sum of the costs of all places.

    The states are random and stay fixed: they replace a decoder's states below its output layer. The layer's
    weights begin small and random, its bias with zeros. The gradient of the sum is (p - q)^T h for the weights and the
    sum of p - q for the bias.
    """
    noise = torch.Generator().manual_seed(seed)
    states = torch.randn(len(TARGET), WIDTH, generator=noise)
    weight = torch.randn(len(WORDS), WIDTH, generator=noise) * WIDTH**-0.5
    bias = torch.zeros(len(WORDS))
    targets = torch.tensor([[float(word == right) for word in WORDS] for right in TARGET])
    logits = [states @ weight.T + bias]
    for _ in range(steps):
        wrong = logits[-1].softmax(-1) - targets  # [m, V]
        weight, bias = weight - RATE * wrong.T @ states, bias - RATE * wrong.sum(0)
        logits.append(states @ weight.T + bias)
    return Learned(states, targets, torch.stack(logits))
