"""The loss of each word of a correct translation: the cross-entropy, position by position."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from demos.bert.translation.decoding import Trained
from demos.bert.translation.vocabulary import padded, shifted


@dataclass(frozen=True)
class Costs:
    """A distribution for each place of a translation of m words, and what the right words cost."""

    targets: tuple[int, ...]  # the right words' ids, the end included
    distributions: torch.Tensor  # [m + 1, V]
    costs: tuple[float, ...]  # -ln p of each right word
    loss: float  # their mean: the cross-entropy that training lowers


@torch.inference_mode()
def costs(trained: Trained, source: Sequence[str], target: Sequence[str]) -> Costs:
    """With the right words before each place given, as in training (teacher forcing)."""
    decoder_input, wanted = shifted([target], trained.target)
    logits = trained.model(padded([source], trained.source), decoder_input)[0]
    of_right = logits.log_softmax(-1).gather(-1, wanted[0][:, None])[:, 0]
    each = tuple((-of_right).tolist())
    return Costs(tuple(wanted[0].tolist()), logits.softmax(-1), each, sum(each) / len(each))
