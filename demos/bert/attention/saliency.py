"""Gradient x input: how much each token's embedding moves one chosen output, to set beside the attention it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import kendalltau, spearmanr

from demos.bert.attention.queries_keys import check_layer
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.bert.pretraining.guesses import Logits
from demos.errors import UserError

Score = Callable[[torch.Tensor], torch.Tensor]  # last hidden states of one input [n, d] -> one number
ROWS = ("cls", "mean")


@dataclass(frozen=True)
class Saliency:
    """One number a token, and the output that they are about."""

    values: np.ndarray  # float64 [n]
    output: float


@dataclass(frozen=True)
class Agreement:
    """Rank correlations of two rows of numbers, in -1..1; None where one of the rows is constant or too short."""

    spearman: float | None
    kendall: float | None
    count: int


def gradient_x_input(loaded: LoadedModel, encoding: Encoding, score: Score) -> Saliency:
    """For each token i: the gradient of the score with respect to its word embedding e_i, dotted with e_i.

    A first-order answer to "what if this embedding were zero?" (Denil et al. 2014; Shrikumar et al. 2016). The
    embedding is the word's alone: position and segment are added after it. No weight of the shared model is changed or
    given a gradient, so threads don't meet.
    """
    inputs = model_inputs(loaded, [encoding])
    input_ids = inputs.pop("input_ids")
    with torch.enable_grad():
        embedded = loaded.model.get_input_embeddings()(input_ids).detach().requires_grad_()
        output = score(loaded.model(inputs_embeds=embedded, **inputs).last_hidden_state[0])
        (gradient,) = torch.autograd.grad(output, embedded)  # [1, n, d]
    products = (gradient[0].double() * embedded[0].detach().double()).sum(dim=-1)
    return Saliency(products.numpy(), float(output.detach()))


def similarity_to(vector: np.ndarray) -> Score:
    """The cosine of the sentence's mean-pooled vector with a fixed one [d]."""
    fixed = torch.from_numpy(np.array(vector))

    def score(hidden: torch.Tensor) -> torch.Tensor:
        return F.cosine_similarity(hidden.mean(dim=0), fixed.to(hidden.dtype), dim=0)

    return score


def word_logit(word_logits: Logits, index: int, token_id: int) -> Score:
    """The masked-word head's logit for one word at one place."""
    return lambda hidden: word_logits(hidden[index])[token_id]


def attention_received(run: Run, layer: int, rows: str = "cls") -> np.ndarray:
    """The attention that each token receives in a layer, averaged over its heads: [n], sums to 1.

    `rows` "cls": from [CLS] alone, the first row; "mean": on average from all tokens. Raises UserError for others.
    """
    weights = run.attentions[check_layer(layer, run.num_layers)].mean(axis=0)  # [n, n]
    if rows not in ROWS:
        raise UserError(f"There are no rows {str(rows)[:20]!r} here; choose one of {', '.join(ROWS)}.")
    received: np.ndarray = weights[0] if rows == "cls" else weights.mean(axis=0)
    return received


def agreement(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Whether two rows [n] put the tokens in the same order: Spearman's rho and Kendall's tau-b."""
    count = len(first)
    if count < 3 or len(set(first.tolist())) == 1 or len(set(second.tolist())) == 1:
        return Agreement(None, None, count)
    return Agreement(float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic), count)
