"""Which vector is the sentence: every choice of pooling and layer, and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.model.models import LoadedModel
from demos.errors import UserError

POOLINGS = ("cls", "mean", "mean_no_special", "max")  # for every layer
POOLER = "pooler"  # the model's own last step for [CLS]: tanh(W h + b) on the last layer only
SUM_ALL, SUM_LAST_FOUR, CONCAT_LAST_FOUR = "sum_all", "sum_last_four", "concat_last_four"
NO_POOLER = "This model has no trained pooler; choose [CLS] or a mean."
NO_WORDS = "A sentence has no token besides [CLS] and [SEP], so their mean without these is empty."
COMBINED = (
    SUM_ALL,
    SUM_LAST_FOUR,
    CONCAT_LAST_FOUR,
)  # of layers 1..L, after Devlin et al. 2019, table 7: weighted there


@dataclass(frozen=True)
class Choice:
    """One way to make a sentence's vector."""

    pooling: str  # one of POOLINGS, or POOLER
    layer: int | str  # an index into hidden_states, 0..L (0 is the embedding output), or one of COMBINED


def has_pooler(loaded: LoadedModel) -> bool:
    """Whether the model's pooler was trained (for next-sentence prediction); other files carry one nobody taught."""
    return loaded.spec.nsp and getattr(loaded.model, "pooler", None) is not None


def choices_of(loaded: LoadedModel) -> list[Choice]:
    """Every choice this model offers: each pooling on each layer and combination, and a trained pooler."""
    layers: list[int | str] = [*range(loaded.model.config.num_hidden_layers + 1), *COMBINED]
    pooler = [Choice(POOLER, loaded.model.config.num_hidden_layers)] if has_pooler(loaded) else []
    return [Choice(pooling, layer) for pooling in POOLINGS for layer in layers] + pooler


def check_choice(loaded: LoadedModel, choice: Choice) -> None:
    """Raises UserError for a pooling or a layer that this model does not offer."""
    deepest = loaded.model.config.num_hidden_layers
    layers_used(choice.layer, deepest)
    if choice.pooling == POOLER and not has_pooler(loaded):
        raise UserError(NO_POOLER)
    if choice.pooling == POOLER and choice.layer != deepest:
        raise UserError(f"The pooler reads the last layer alone; choose layer {deepest}.")
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
    """How many numbers the sentence's vector has."""
    return width * len(layers_used(choice.layer, num_layers)) if choice.layer == CONCAT_LAST_FOUR else width


def token_states(hidden: Sequence[torch.Tensor | None], layer: int | str) -> torch.Tensor:
    """The tokens' vectors that are pooled: hidden states (L + 1 of [..., n, d]) -> [..., n, d], or [..., n, 4d].

    A hidden state that this layer does not read may be None.
    """
    used = [state for k in layers_used(layer, len(hidden) - 1) if (state := hidden[k]) is not None]
    if layer == CONCAT_LAST_FOUR:
        return torch.cat(used, dim=-1)
    total = used[0]
    for state in used[1:]:
        total = total + state
    return total


def pool_batch(
    hidden: Sequence[torch.Tensor | None],
    attention_mask: torch.Tensor | None,
    special_tokens_mask: torch.Tensor,
    choice: Choice,
    pooler: Any = None,
) -> torch.Tensor:
    """One vector a sentence: hidden states (L + 1 of [b, n, d]) and two masks [b, n] -> [b, d] or [b, 4d].

    `mean` is sentence-transformers' own (Reimers and Gurevych 2019, section 3): every token counts, [CLS] and
    [SEP] included, padding not. No attention mask: nothing is padding. A hidden state that is not read may be None.
    Raises UserError for an unknown pooling or layer, for a pooler that is not there, and where a sentence has no token
    to take the mean of.
    """
    if choice.pooling == POOLER:
        if pooler is None:
            raise UserError(NO_POOLER)
        result: torch.Tensor = pooler(hidden[-1])
        return result
    states = token_states(hidden, choice.layer)  # [b, n, D]
    if choice.pooling == "cls":
        return states[:, 0]
    if choice.pooling == "max":
        if attention_mask is not None:
            states = states.masked_fill(~attention_mask.bool()[..., None], -torch.inf)
        return states.amax(dim=1)
    if choice.pooling not in ("mean", "mean_no_special"):
        raise UserError(unknown_pooling(choice.pooling))
    if choice.pooling == "mean" and attention_mask is None:
        return states.mean(dim=1)
    kept = torch.ones_like(special_tokens_mask, dtype=torch.bool) if attention_mask is None else attention_mask.bool()
    if choice.pooling == "mean_no_special":
        kept = kept & ~special_tokens_mask.bool()
        if not bool(kept.any(dim=1).all()):
            raise UserError(NO_WORDS)
    weights = kept[..., None].to(states.dtype)  # [b, n, 1]
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Each row divided by its length, float32 [m, D]; a zero row stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
