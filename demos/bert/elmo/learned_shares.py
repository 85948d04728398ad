"""The shares of ELMo's layers that a task learns; the task: have two uses of a word the same sense?

Matthew Peters et al. (2018), Deep contextualized word representations, NAACL, equation 1: s = softmax(w). Their gamma
scales all of a vector and so changes no cosine; here the scale of the logistic regression takes its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
import torch.nn.functional as F

from demos.bert.elmo.bundled import Trained
from demos.bert.elmo.mixing import read
from demos.bert.elmo.words import word_spans
from demos.bert.embeddings.word_occurrences import Use
from demos.errors import UserError

STEPS = 200  # of L-BFGS at most; it ends by itself after some twenty


@dataclass(frozen=True)
class LearnedShares:
    """P(same sense) = sigmoid(scale * cosine + offset), of two vectors that are mixed with `shares`."""

    shares: np.ndarray  # <float64>[LAYERS + 1]: s_0 ... s_L, a softmax
    scale: float
    offset: float
    loss: float  # mean cross-entropy over the pairs, in nats
    guessing_loss: float  # of always answering how many of the pairs have the same sense
    pairs: int


def layers_of_uses(trained: Trained, uses: Sequence[Use]) -> np.ndarray:
    """All layers' states of each use's word, [m, LAYERS + 1, 2d]. Raises UserError for a use that is no single word."""
    rows = []
    for use in uses:
        spans = word_spans(use.sentence)
        at = next((at for at, (_, *span) in enumerate(spans) if span == [use.start, use.end]), None)
        if at is None:
            raise UserError(f"“{use.sentence[use.start : use.end]}” is not a word as ELMo reads it.")
        rows.append(read(trained, [word for word, _, _ in spans]).layers[:, at])
    return np.stack(rows)


def learn_shares(layers: np.ndarray, words: Sequence[str], senses: Sequence[str]) -> LearnedShares:
    """Fitted by L-BFGS to all pairs of uses of the same word, from equal shares. [m, LAYERS + 1, 2d]; m words, senses.

    Raises UserError where the pairs are all of one kind.
    """
    pairs = [(i, j) for i, j in combinations(range(len(words)), 2) if words[i] == words[j]]
    same = torch.tensor([float(senses[i] == senses[j]) for i, j in pairs], dtype=torch.float64)
    if not 0 < same.sum() < len(same):
        raise UserError("There must be pairs with the same sense and pairs with different ones.")
    vectors = torch.tensor(layers, dtype=torch.float64)
    first, second = torch.tensor(pairs).T
    w = torch.zeros(layers.shape[1], dtype=torch.float64, requires_grad=True)
    line = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)  # scale, offset
    optimizer = torch.optim.LBFGS([w, line], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        mixed = torch.tensordot(w.softmax(0), vectors, dims=([0], [1]))  # [m, 2d]
        cosines = torch.cosine_similarity(mixed[first], mixed[second])
        return F.binary_cross_entropy_with_logits(line[0] * cosines + line[1], same)

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value.item()

    with torch.inference_mode(False), torch.enable_grad():
        optimizer.step(closure)
    share = same.mean()
    guessing_loss = F.binary_cross_entropy(share.expand_as(same), same).item()
    return LearnedShares(
        w.detach().softmax(0).numpy(), line[0].item(), line[1].item(), loss().item(), guessing_loss, len(pairs)
    )
