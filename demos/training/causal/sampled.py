"""A softmax over a part of the vocabulary, so that a step costs what its layers cost and not twice that."""

from dataclasses import dataclass

import numpy as np
import torch

LEAST = 0.02  # the share of steps in which even a word that no book has is a candidate


@dataclass(frozen=True)
class Candidates:
    """K of the V words, drawn for one step."""

    ids: torch.Tensor  # <int64>[K]
    log_shares: torch.Tensor  # <float32>[K]: the logarithm of the probability with which each is drawn


def shares_of(counts: np.ndarray, size: int) -> torch.Tensor:
    """<float32>[V]: each word's probability to be drawn, by its count to the power of 3/4; about `size` are drawn.

    Frequent words have 1, so they always take part.
    """
    raised = torch.from_numpy(counts.astype(np.float32)) ** 0.75
    scale = size / raised.sum()
    for _ in range(8):  # frequent words' excess above 1 goes to the others
        inside = (raised * scale).clamp(max=1.0)
        scale = scale * size / inside.sum()
    return (raised * scale).clamp(LEAST, 1.0)


def draw(shares: torch.Tensor, generator: torch.Generator) -> Candidates:
    """Each word by itself, with its probability."""
    ids = (torch.rand(len(shares), generator=generator) < shares).nonzero()[:, 0]
    return Candidates(ids, shares[ids].log())


def sampled_losses(
    transformed: torch.Tensor, words: torch.Tensor, bias: torch.Tensor, answers: torch.Tensor, drawn: Candidates
) -> torch.Tensor:
    """[M, d] states, [V, d], [V], [M] right ids -> [M] losses in nats.

    The sum below the softmax is the right word's term and, for all others, the drawn words' terms, each divided by the
    probability to be drawn: what is expected of that sum is the sum over all words (Horvitz and Thompson 1952; for
    language models Bengio and Senécal 2003). Where every word is drawn for certain, it is the exact cross-entropy.
    """
    own = (transformed.float() * words[answers]).sum(-1) + bias[answers]
    logits = (transformed @ words[drawn.ids].T.to(transformed.dtype)).float() + (bias[drawn.ids] - drawn.log_shares)
    logits = logits.masked_fill(answers[:, None] == drawn.ids, float("-inf"))  # the right word counts once
    return torch.logsumexp(torch.cat([own[:, None], logits], dim=1), dim=1) - own
