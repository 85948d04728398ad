"""Temperature, top-k and top-p: how a distribution of the next token is changed before one is drawn from it.

They are applied in the order of transformers' `generate`: temperature, then top-k, then top-p. Any model can use them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from demos.errors import UserError

COLDEST, HOTTEST = 0.05, 5.0  # temperatures


@dataclass(frozen=True)
class Sampling:
    """The settings of drawing a token."""

    temperature: float = 1.0  # logits are divided by it
    top_k: int = 0  # so many of the likeliest; 0: all
    top_p: float = 1.0  # the fewest of the likeliest whose probabilities reach this; 1: all

    def check(self) -> Self:
        """Itself. Raises UserError for values out of bounds, and for those that are no numbers."""
        if not COLDEST <= self.temperature <= HOTTEST:
            raise UserError(f"Choose a temperature between {COLDEST} and {HOTTEST:g}.")
        if not (self.top_k >= 0 and 0 < self.top_p <= 1):
            raise UserError("Choose a top-k of 0 or more, and a top-p above 0 and at most 1.")
        return self


@dataclass(frozen=True)
class Reshaped:
    """A distribution on its way, each [V]."""

    original: Tensor  # softmax of the logits
    tempered: Tensor  # softmax of the logits divided by the temperature
    allowed: Tensor  # bool: what top-k and top-p leave
    final: Tensor  # `tempered` over what is kept, summing to 1 again


def reshape(logits: Tensor, sampling: Sampling) -> Reshaped:
    """All steps from the logits [V] of one place to the distribution that is drawn from (Holtzman et al. 2020)."""
    tempered = (logits / sampling.temperature).softmax(-1)
    allowed = torch.ones_like(tempered, dtype=torch.bool)
    if sampling.top_k:
        least = logits.topk(min(sampling.top_k, len(logits))).values[-1]
        allowed = logits >= least  # equal logits stay together, as in transformers
    if sampling.top_p < 1:
        shares, order = tempered.where(allowed, 0.0).sort(descending=True, stable=True)
        shares = shares / shares.sum()
        before = shares.cumsum(-1) - shares  # the probability of all that is likelier
        within = torch.zeros_like(allowed).scatter(0, order, before < sampling.top_p)
        allowed = allowed & within
    final = tempered.where(allowed, 0.0)
    return Reshaped(logits.softmax(-1), tempered, allowed, final / final.sum())


@dataclass(frozen=True)
class Drawn:
    """One token that was drawn."""

    token: int
    probability: float  # in the distribution that it was drawn from
    log_probability: float  # of the model itself
    choices: int  # tokens that were kept


def sample(
    next_logits: Callable[[Sequence[tuple[int, ...]]], Tensor],
    sampling: Sampling,
    end: int,
    longest: int,
    seeds: Sequence[int],
) -> list[tuple[Drawn, ...]]:
    """For each seed, tokens drawn one after the other, up to `end` (included) or `longest`; it draws the same again.

    `next_logits` is handed b texts of equal length and returns the logits [b, V] of the next tokens.
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    drawn: list[tuple[Drawn, ...]] = [() for _ in seeds]
    going = list(range(len(seeds)))
    while going:
        logits = next_logits([tuple(draw.token for draw in drawn[at]) for at in going])
        own = logits.log_softmax(-1)
        for row, at in enumerate(going):
            shares = reshape(logits[row], sampling)
            token = int(torch.multinomial(shares.final, 1, generator=generators[at]))
            of_token = shares.final[token].item(), own[row, token].item()
            drawn[at] += (Drawn(token, *of_token, int(shares.allowed.sum())),)
        going = [at for at in going if drawn[at][-1].token != end and len(drawn[at]) < longest]
    return drawn
