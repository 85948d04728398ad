"""A model's predictions at a masked position: for all words at once, after every layer up to the last."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.guesses import Guess, Logits, guess_at, masked


@dataclass(frozen=True)
class Distribution:
    """Probabilities of all V word pieces at one place, by what one wants to know of them."""

    best: tuple[Guess, ...]  # the likeliest first
    covered: float  # what `best` holds together
    entropy: float  # nats, 0 to ln V
    target: Guess  # the true word where it is known, else the last layer's own first guess
    rank: int  # of `target`, 1 for the likeliest

    @property
    def choices(self) -> float:
        """e to the entropy: a choice among so many equally likely words is as uncertain."""
        return math.exp(self.entropy)

    @property
    def loss(self) -> float:
        """The loss of the target, in nats: -ln of its probability (Devlin et al. 2019, section 3.1, task 1)."""
        return -math.log(self.target.probability)


def hide(tokenizer: Any, encoding: Encoding, places: Collection[int]) -> Encoding:
    """The same input with [MASK] for each of these tokens. Raises UserError where there is no such token."""
    for place in places:
        encoding = masked(tokenizer, encoding, place)
    return encoding


def states(loaded: LoadedModel, encodings: Sequence[Encoding], *, every: bool = False) -> torch.Tensor:
    """Hidden states <float32>[1, b, n, d] of one padded batch, the last layer's; of `every` layer [L + 1, b, n, d].

    Unlike `run_model` it keeps no attention weights, which for a batch of long inputs would fill the memory.
    """
    inputs = model_inputs(loaded, encodings)
    with torch.inference_mode():
        output = loaded.model(**inputs, output_hidden_states=every)
        return torch.stack(output.hidden_states) if every else output.last_hidden_state[None]


def distributions(
    word_logits: Logits, tokenizer: Any, hidden: np.ndarray, count: int, target: int | Sequence[int] | None = None
) -> tuple[Distribution, ...]:
    """The masked-word head applied to states [r, d]: of several places, or of one place at every layer.

    Only the last layer's are what the head was trained for; to read the others with it is the "logit lens"
    (nostalgebraist 2020). `target` is the hidden token's id, or one for each row; without it the last row's first
    guess is the target.
    """
    with torch.inference_mode():
        logits = word_logits(torch.from_numpy(np.array(hidden)))  # [r, V]
        logarithms = logits.double().log_softmax(dim=-1)
        chances = logarithms.exp()
        entropies = -(chances * logarithms).sum(dim=-1)
        ids = torch.as_tensor(logits[-1].argmax() if target is None else target).expand(len(logits))
        ranks = 1 + (logits > logits.gather(1, ids[:, None])).sum(dim=-1)
        best = logits.topk(count, dim=-1).indices

    return tuple(
        Distribution(
            best=tuple(guess_at(tokenizer, logits[row], chances[row], index) for index in best[row].tolist()),
            covered=float(chances[row, best[row]].sum()),
            entropy=float(entropies[row]),
            target=guess_at(tokenizer, logits[row], chances[row], int(ids[row])),
            rank=int(ranks[row]),
        )
        for row in range(len(logits))
    )


def leads_from(layers: Sequence[Distribution]) -> int | None:
    """The state from which on the target is first and stays so; None where it is not first at the end."""
    behind = [number for number, layer in enumerate(layers) if layer.rank > 1]
    first = behind[-1] + 1 if behind else 0
    return first if first < len(layers) else None
