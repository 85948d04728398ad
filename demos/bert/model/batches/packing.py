"""A pass over many sentences laid end to end: every row of every product is a token, so none is spent on padding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from demos.bert.model.layer_weights import activation_of, layer_of, layer_parts
from demos.bert.model.local_layers import reaches


class StoppedError(Exception):
    """Nobody wants the pass any more."""


@dataclass(frozen=True)
class Group:
    """Sentences of one length, side by side in a pack: tokens start to start + sentences * length."""

    start: int
    sentences: int
    length: int

    def of(self, tokens: torch.Tensor) -> torch.Tensor:
        """The group's part of [T, d] as [sentences, length, d]; a view."""
        part = tokens[self.start : self.start + self.sentences * self.length]
        return part.unflatten(0, (self.sentences, self.length))


def grouped(lengths: Sequence[int]) -> list[Group]:
    """The groups of a pack whose sentences have these lengths, equal ones side by side."""
    groups, start = [], 0
    for length, same in groupby(lengths):
        count = len(list(same))
        groups.append(Group(start, count, length))
        start += count * length
    return groups


def hidden_states(
    model: Any,
    input_ids: torch.Tensor,
    groups: Sequence[Group],
    needed: frozenset[int],
    wanted: Callable[[], bool] = lambda: True,
) -> dict[int, torch.Tensor]:
    """The hidden states `needed`, as indices 0..L, of T tokens: [T] -> {index: [T, d]}; layers above are not computed.

    The model's own layers, called one by one: no hook, no copy, and nothing of the model is changed, so that any number
    of threads may do it. All but attention works on each token by itself; attention takes one group at a time.
    Equal to transformers' `hidden_states` to 1e-5. Raises StoppedError once `wanted`, called at each layer, is false.
    Source: Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3.2 and 3.3.
    """
    output_of = _of_modernbert if model.config.model_type == "modernbert" else _by_token
    states = embedded(model, input_ids, groups)
    by_layer = {0: states} if 0 in needed else {}
    for index in range(max(needed, default=0)):
        if not wanted():
            raise StoppedError
        states = output_of(model, index, states, groups)
        if index + 1 in needed:
            by_layer[index + 1] = states
    if (last := model.config.num_hidden_layers) in by_layer and hasattr(model, "final_norm"):  # ModernBERT's
        by_layer[last] = model.final_norm(states)
    return by_layer


def _by_token(model: Any, index: int, states: torch.Tensor, groups: Sequence[Group]) -> torch.Tensor:
    """The output of layer `index`, in which all but attention works on each token by itself: [T, d] -> [T, d]."""
    module = layer_of(model, index)
    parts = layer_parts(module)
    activation = activation_of(module)
    query, key, value = (parts[name](states) for name in ("query", "key", "value"))
    attended = attention(query, key, value, groups, model.config.num_attention_heads)
    states = parts["attention_norm"](parts["output"](attended).add_(states))
    inner = activation(parts["inner"](states))
    return parts["output_norm"](parts["outer"](inner).add_(states))


def _of_modernbert(model: Any, index: int, states: torch.Tensor, groups: Sequence[Group]) -> torch.Tensor:
    """As `_by_token`, in ModernBERT's block: norms before, rotary positions, a window in local layers, GeGLU.

    Source: Warner et al. 2024, section 2.1.
    """
    module, num_heads = layer_of(model, index), model.config.num_attention_heads
    joined = module.attn.Wqkv(module.attn_norm(states))
    query, key, value = joined.unflatten(-1, (3, num_heads, -1)).unbind(1)  # [T, A, d_k] each
    cos, sin = model.rotary_emb(states, _positions(groups)[:, None], module.attention_type)  # [T, 1, d_k] each
    query, key = (_turned(vectors, cos, sin).flatten(1) for vectors in (query, key))
    attended = attention(query, key, value.flatten(1), groups, num_heads, reaches(model.config)[index])
    states = module.attn.Wo(attended).add_(states)
    inner, gate = module.mlp.Wi(module.mlp_norm(states)).chunk(2, dim=-1)
    return module.mlp.Wo(module.mlp.act(inner) * gate).add_(states)


def _turned(vectors: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """[..., d_k] rotated: component i and component i + d_k / 2 are a pair (Su et al. 2021)."""
    first, second = vectors.chunk(2, dim=-1)
    return vectors * cos + torch.cat([-second, first], dim=-1) * sin


def _positions(groups: Sequence[Group]) -> torch.Tensor:
    """The place of each token in its sentence: [T]."""
    return torch.cat([torch.arange(group.length).repeat(group.sentences) for group in groups])


def all_states(model: Any, sentences: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Every hidden state of each sentence, given as token ids: float32 [L + 1, n, d] each."""
    lengths = [len(token_ids) for token_ids in sentences]
    every = frozenset(range(model.config.num_hidden_layers + 1))
    with torch.inference_mode():
        packed = torch.tensor([token for token_ids in sentences for token in token_ids])
        states = hidden_states(model, packed, grouped(lengths), every)
        together = torch.stack([states[index] for index in sorted(every)]).numpy()  # [L + 1, T, d]
    return np.split(together, np.cumsum(lengths)[:-1], axis=1)


def embedded(model: Any, input_ids: torch.Tensor, groups: Sequence[Group]) -> torch.Tensor:
    """The embedding output: word + position (+ segment A) under LayerNorm, [T] -> [T, d].

    ALBERT and ELECTRA widen it to d; RoBERTa counts positions in its own way: there the model's own modules do it.
    """
    layer = model.embeddings
    if model.config.model_type not in ("bert", "distilbert"):
        parts = [layer(input_ids=group.of(input_ids)).flatten(0, 1) for group in groups]
        widened = getattr(model, "embeddings_project", None) or getattr(
            getattr(model, "encoder", None), "embedding_hidden_mapping_in", torch.nn.Identity()
        )
        return widened(torch.cat(parts))
    states = layer.word_embeddings(input_ids) + layer.position_embeddings(_positions(groups))
    if hasattr(layer, "token_type_embeddings"):  # DistilBERT has none
        states += layer.token_type_embeddings.weight[0]
    return layer.LayerNorm(states)


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    groups: Sequence[Group],
    num_heads: int,
    reach: int | None = None,
) -> torch.Tensor:
    """softmax(Q K^T / sqrt(d_k)) V of every head within each sentence: three times [T, d] -> [T, d].

    With a `reach`, a token attends only to tokens that are at most so many places away.
    """
    result = torch.empty_like(query)
    for group in groups:
        q, k, v = (group.of(x).unflatten(-1, (num_heads, -1)).transpose(1, 2) for x in (query, key, value))
        near = None
        if reach is not None and group.length > reach + 1:
            places = torch.arange(group.length)
            near = (places[:, None] - places).abs() <= reach
        z = scaled_dot_product_attention(q, k, v, near)  # [sentences, A, length, d_k]
        group.of(result).unflatten(-1, (num_heads, -1)).copy_(z.transpose(1, 2))
    return result
