"""Sentence vectors: every choice of pooling and layer, its arithmetic, and each token's share in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch

from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.errors import UserError

POOLINGS = ("cls", "mean", "mean_no_special", "max")  # for every layer
POOLER = "pooler"  # the model's own last step for [CLS]: tanh(h W + b) on the last layer only
SUM_ALL, SUM_LAST_FOUR, CONCAT_LAST_FOUR = "sum_all", "sum_last_four", "concat_last_four"
NO_POOLER = "This model has no trained pooler; choose [CLS] or a mean."
NO_WORDS = "One of the sentences has no tokens except [CLS] and [SEP], so it has no mean without them."
# Of layers 1..L, after Devlin et al. 2019, table 7, where sums are weighted.
COMBINED = (SUM_ALL, SUM_LAST_FOUR, CONCAT_LAST_FOUR)


@dataclass(frozen=True)
class Choice:
    """One way to make a sentence's vector."""

    pooling: str  # one of POOLINGS, or POOLER
    layer: int | str  # an index into hidden_states, 0..L (0 is the embedding output), or one of COMBINED


def has_pooler(loaded: LoadedModel) -> bool:
    """Whether the model's pooler was trained (for next-sentence prediction); other files carry an untrained one."""
    return loaded.spec.nsp and getattr(loaded.model, "pooler", None) is not None


def choices_of(loaded: LoadedModel, combined: Sequence[str] = COMBINED) -> list[Choice]:
    """Every choice this model offers: each pooling on each layer and combination, and a trained pooler."""
    deepest = loaded.model.config.num_hidden_layers
    layers: list[int | str] = [*range(deepest + 1), *combined]
    pooler = [Choice(POOLER, deepest)] if has_pooler(loaded) else []
    return [Choice(pooling, layer) for pooling in POOLINGS for layer in layers] + pooler


def check_choice(loaded: LoadedModel, choice: Choice) -> None:
    """Raises UserError for a pooling or a layer that this model does not offer."""
    deepest = loaded.model.config.num_hidden_layers
    layers_used(choice.layer, deepest)
    if choice.pooling == POOLER and not has_pooler(loaded):
        raise UserError(NO_POOLER)
    if choice.pooling == POOLER and choice.layer != deepest:
        raise UserError(f"The pooler uses only the last layer; choose layer {deepest}.")
    if choice.pooling not in (*POOLINGS, POOLER):
        raise UserError(unknown_pooling(choice.pooling))


def unknown_pooling(pooling: object) -> str:
    """One sentence for what is no pooling."""
    return f"There is no pooling {str(pooling)[:40]!r} here; choose one of {', '.join(POOLINGS)}."


def layers_used(layer: int | str, num_layers: int) -> tuple[int, ...]:
    """The hidden states that a layer's choice reads, as indices 0..L. Raises UserError for an unknown one.

    A model of fewer than four layers has a "last four" of all it has.
    """
    if layer == SUM_ALL:
        return tuple(range(1, num_layers + 1))
    if layer in (SUM_LAST_FOUR, CONCAT_LAST_FOUR):
        return tuple(range(max(1, num_layers - 3), num_layers + 1))
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= num_layers:
        raise UserError(f"There is no layer {str(layer)[:20]!r} here; the model has 0 to {num_layers}.")
    return (layer,)


def dimension(choice: Choice, num_layers: int, width: int) -> int:
    """The number of components of the sentence's vector."""
    return width * len(layers_used(choice.layer, num_layers)) if choice.layer == CONCAT_LAST_FOUR else width


def token_states(hidden: Sequence[torch.Tensor | None], layer: int | str) -> torch.Tensor:
    """The tokens' vectors that are pooled: hidden states (L + 1 of [..., n, d]) -> [..., n, d], or [..., n, 4d].

    A hidden state that this layer does not read may be None.
    """
    used = [state for k in layers_used(layer, len(hidden) - 1) if (state := hidden[k]) is not None]
    return torch.cat(used, dim=-1) if layer == CONCAT_LAST_FOUR else reduce(torch.add, used)


def run_states(run: Run, layer: int | str) -> np.ndarray:
    """`token_states` of a forward pass: [n, d], or [n, 4d]."""
    return token_states([torch.tensor(state) for state in run.hidden_states], layer).numpy()


def pool_batch(
    hidden: Sequence[torch.Tensor | None], choice: Choice, words: torch.Tensor, pooler: Any = None
) -> torch.Tensor:
    """One vector a sentence of equally long ones: hidden states (L + 1 of [b, n, d]) -> [b, d] or [b, 4d].

    `mean` is sentence-transformers' own (Reimers and Gurevych 2019, section 3): every token counts, [CLS] and
    [SEP] included; `words` <bool>[b, n] are the tokens that are not special. A hidden state that is not read may be
    None. `choice` is one that `check_choice` lets pass.
    Raises UserError where a sentence has no token to take the mean of.
    """
    if choice.pooling == POOLER:
        return pooler(hidden[-1])
    states = token_states(hidden, choice.layer)  # [b, n, D]
    if choice.pooling == "cls":
        return states[:, 0]
    if choice.pooling == "max":
        return states.amax(dim=1)
    if choice.pooling == "mean_no_special":
        counts = words.sum(dim=1, keepdim=True)
        if not counts.all():
            raise UserError(NO_WORDS)
        return (states * words[..., None]).sum(dim=1) / counts
    return states.mean(dim=1)


def pool_run(loaded: LoadedModel, run: Run, choice: Choice) -> np.ndarray:
    """`pool_batch` of one run: the sentence's vector [d], or [4d]. Raises UserError as it does."""
    hidden = [torch.tensor(state)[None] for state in run.hidden_states]
    words = torch.tensor([run.encoding.special_tokens_mask]) == 0
    pooler = loaded.model.pooler if has_pooler(loaded) else None
    with torch.inference_mode():
        return pool_batch(hidden, choice, words, pooler)[0].numpy()


def token_shares(run: Run, choice: Choice) -> np.ndarray:
    """The share of each token in the vector: [n], sums to 1.

    cls and pooler: all from the first token; mean: 1/n from each, or from each but [CLS] and [SEP]; max: the share of
    the vector's numbers in which this token is the largest. Raises UserError where there is no token to take the
    mean of.
    """
    n = len(run.encoding)
    if choice.pooling in ("cls", POOLER):
        return np.eye(1, n)[0]
    if choice.pooling == "max":
        largest = run_states(run, choice.layer).argmax(axis=0)  # [D]
        return np.bincount(largest, minlength=n) / len(largest)
    counted = np.ones(n) if choice.pooling == "mean" else 1 - np.array(run.encoding.special_tokens_mask)
    if not counted.any():
        raise UserError(NO_WORDS)
    return counted / counted.sum()
