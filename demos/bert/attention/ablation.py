"""Heads switched off: the same model run again with some heads' output set to zero, and how far that moves it.

A head's output is z = its weights times the values; W_O mixes the z of all heads into the residual stream. Here
the z of the chosen heads is zero before W_O, which is Michel et al. 2019 (section 2.3) with their mask at 0.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import torch

from demos.bert.embeddings.similarity import cosine
from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.encoding import Encoding, check_length
from demos.bert.model.layer_weights import layer_of, layer_parts
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import BATCH_TOKENS, Run, run_model
from demos.counting import counted
from demos.errors import UserError

Head = tuple[int, int]  # (layer, head), both counted from 0
MAX_CHARACTERS = 4_000  # the 384 heads of BERT large, written out, are 2,600
# A module's dictionaries of hooks, by name.
HOOKS = tuple(
    name for name in vars(torch.nn.Module()) if name.endswith(("_hooks", "_hooks_with_kwargs", "_hooks_always_called"))
)
MAX_PASSES = 144
MAX_PASS_TOKENS = 96  # of a sentence that is read once for each head: 144 times 96 tokens keep BERT base busy for 15 s


def read_heads(text: str | None) -> frozenset[Head]:
    """Heads as a person writes them, "1.3, 4.8": layer, point, head, from 1. Raises UserError for anything else."""
    written = (text or "").strip()
    if len(written) > MAX_CHARACTERS:
        raise UserError(f"The list of heads has {len(written):,} characters; the limit is {MAX_CHARACTERS:,}.")
    words = [word for word in re.split(r"[,;\s]+", written) if word]
    for word in words:
        if not re.fullmatch(r"0*[1-9][0-9]{0,2}\.0*[1-9][0-9]{0,2}", word):
            raise UserError(f"{word[:20]!r} is not a head; write layer.head, both counted from 1, such as 1.3 or 4.8.")
    return frozenset((int(layer) - 1, int(head) - 1) for layer, head in (word.split(".") for word in words))


def write_heads(heads: Collection[Head]) -> str:
    """The other way round, in order: "1.3, 4.8"."""
    return ", ".join(f"{counted(layer)}.{counted(head)}" for layer, head in sorted(heads))


def check_heads(heads: Collection[Head], num_layers: int, num_heads: int) -> frozenset[Head]:
    """`heads` as a set. Raises UserError where this model has no such head."""
    for layer, head in sorted(heads):
        if layer not in range(num_layers) or head not in range(num_heads):
            raise UserError(
                f"There is no head {write_heads([(layer, head)])} here; the model has layers 1 to {num_layers} "
                f"and heads 1 to {num_heads}."
            )
    return frozenset(heads)


def run_without(loaded: LoadedModel, encodings: Sequence[Encoding], off: Collection[Head]) -> list[Run]:
    """`run_model` with these heads' z set to zero: whole Runs, in which all later values are recomputed.

    A switched-off head keeps its attention weights; they just lead to nothing. The shared model is not touched, also
    while other threads run it. With an empty `off` the Runs equal `run_model`'s to the bit.
    Raises UserError for a head that the model has not.
    """
    chosen = check_heads(off, loaded.spec.num_layers, loaded.spec.num_heads)
    return run_model(replace(loaded, model=switched_off(loaded, [chosen])), encodings)


def switched_off(loaded: LoadedModel, off: Sequence[frozenset[Head]]) -> Any:
    """A separate model on the same weights, in which row r of a batch lacks the heads off[r]; one set is for all.

    Where no head is off it is the model itself.
    """
    if not any(off):
        return loaded.model
    model = sharing_weights(loaded.model)
    places: dict[Any, list[int]] = {}  # the layers of each W_O: in ALBERT one is all layers'
    for layer in range(loaded.spec.num_layers):
        places.setdefault(layer_parts(layer_of(model, layer))["output"], []).append(layer)
    silent = {layer for heads in off for layer, _ in heads}
    for mixing, layers in places.items():
        if silent & set(layers):
            dropped = [
                torch.tensor([[(layer, head) in heads for head in range(loaded.spec.num_heads)] for heads in off])
                for layer in layers
            ]
            mixing.register_forward_pre_hook(_Silence(dropped))
    return model


def sharing_weights(model: Any) -> Any:
    """A copy of the module tree on the very same parameters and buffers: a millisecond, and no weight is copied.

    So hooks can be put on it while other threads use the original.
    """
    copies: dict[int, Any] = {}  # a layer that is used several times, as in ALBERT, is one copy each time

    def copied(module: Any) -> Any:
        if id(module) not in copies:
            copies[id(module)] = own = object.__new__(type(module))
            parts = own.__dict__  # past Module.__setattr__, which looks each value over
            parts.update(module.__dict__)
            for name in HOOKS:
                parts[name] = parts[name].copy()
            parts["_modules"] = {name: inner and copied(inner) for name, inner in module._modules.items()}
        return copies[id(module)]

    return copied(model)


class _Silence:
    """A hook before W_O: zero where `dropped`, each <bool>[rows or 1, A], say so, one for each call of a pass."""

    def __init__(self, dropped: Sequence[torch.Tensor]) -> None:
        self.calls = cycle([mask[:, None, :, None] for mask in dropped])  # [rows or 1, 1, A, 1]

    def __call__(self, _module: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        z = inputs[0]  # [batch, n, A * d_k]
        dropped = next(self.calls)
        heads = z.unflatten(-1, (dropped.shape[2], -1))
        return (heads.masked_fill(dropped.to(z.device), 0.0).flatten(-2), *inputs[1:])


def effect_of_each(loaded: LoadedModel, encoding: Encoding, heads: Sequence[Head]) -> Iterator[dict[Head, float]]:
    """For each head alone: 1 - cosine of the sentence vector with it and without it; yields batch by batch.

    Raises UserError for more than MAX_PASSES heads or a sentence of more than MAX_PASS_TOKENS tokens.
    """
    check_heads(heads, loaded.spec.num_layers, loaded.spec.num_heads)
    if len(heads) > MAX_PASSES:
        raise UserError(f"{len(heads)} heads are too many to test one by one; the limit is {MAX_PASSES}.")
    check_length(encoding, MAX_PASS_TOKENS)
    whole = sentence_vectors(loaded, [encoding])[0]
    rows = max(1, BATCH_TOKENS // len(encoding))
    for start in range(0, len(heads), rows):
        batch = list(heads[start : start + rows])
        alone = [frozenset({head}) for head in batch]
        vectors = sentence_vectors(loaded, [encoding] * len(batch), alone)  # [rows, d]
        moved = 1 - cosine(vectors, np.broadcast_to(whole, vectors.shape))
        yield {head: float(change) for head, change in zip(batch, moved, strict=True)}


def sentence_vectors(
    loaded: LoadedModel, encodings: Sequence[Encoding], off: Sequence[frozenset[Head]] = (frozenset(),)
) -> np.ndarray:
    """Each input's mean-pooled vector with its own heads off, or one set for all, in one padded pass: [m, d].

    Every token counts, [CLS] and [SEP] included, padding not (Reimers and Gurevych 2019, section 3). No attention is
    kept, so that many inputs fit into memory.
    """
    inputs = model_inputs(loaded, encodings)
    mask = inputs["attention_mask"]
    with torch.inference_mode():
        hidden = switched_off(loaded, off)(**inputs).last_hidden_state  # [m, n, d]
        vectors = (hidden * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
    return vectors.numpy()
