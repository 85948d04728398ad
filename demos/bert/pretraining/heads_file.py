"""The file of our own pre-training heads: what is in it, and how the bundled encoder takes it.

The encoder that was trained on differs from the bundled one in every layer. What differs is small, so the file holds
the differences in 4 bits and the new parts in 8 or 16; the word embeddings, which are the decoder too, change by a
matrix of low rank (Hu et al. 2021, LoRA). assets/pretraining/README.md tells how the numbers came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from demos.bert.pretraining.packing import Packed, pack, unpack

WORDS = "bert.embeddings.word_embeddings.weight"  # the decoder is tied to it
LOW_LEFT, LOW_RIGHT = "words.left", "words.right"  # [V, r] and [r, d]: their product is added to the word embeddings


def write_heads(
    path: Path,
    trained: Mapping[str, torch.Tensor],
    bundled: Mapping[str, torch.Tensor],
    left: torch.Tensor,
    right: torch.Tensor,
    about: Mapping[str, str],
) -> None:
    """Write what `trained`, named as BertForPreTraining's parameters, has beyond `bundled`, named as BertModel's.

    Matrices of the encoder are stored as differences in 4 bits, new matrices in 8, vectors in float16. `left` [V, r]
    and `right` [r, d] change the word embeddings. `about` is kept as the file's metadata.
    """
    tensors: dict[str, torch.Tensor] = {}
    for name, value in {**trained, LOW_LEFT: left, LOW_RIGHT: right}.items():
        base = bundled.get(name.removeprefix("bert.")) if not name.startswith("bert.pooler") else None
        changed = value.float() if base is None else value.float() - base.float()
        if value.dim() < 2 or min(value.shape) < 16:
            tensors[name if base is None else f"{name}:added"] = changed.half()
            continue
        bits = 8 if base is None else 4
        packed = pack(changed, bits)
        kind = f"q{bits}" if base is None else f"added.q{bits}"
        tensors[f"{name}:{kind}.values"], tensors[f"{name}:{kind}.scales"] = packed
    save_file({name: value.contiguous() for name, value in tensors.items()}, path, metadata=dict(about))


def read_heads(path: Path, bundled: Mapping[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """(the parameters of a BertForPreTraining, what the file says about itself). `bundled` is BertModel's own state.

    The decoder's matrix is left out, since it is the word embeddings.
    """
    with safe_open(path, framework="pt") as file:
        about = dict(file.metadata() or {})
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a mapping)
    state = {f"bert.{name}": value.clone() for name, value in bundled.items() if not name.startswith("pooler")}
    low: dict[str, torch.Tensor] = {}
    for key, value in stored.items():
        name, _, kind = key.partition(":")
        if kind.endswith(".scales"):
            continue
        if "q" in kind:
            bits = int(kind.partition("q")[2].partition(".")[0])
            value = unpack(Packed(value, stored[key.removesuffix("values") + "scales"]), bits)
        value = value.float()
        if name in (LOW_LEFT, LOW_RIGHT):
            low[name] = value
        elif kind.startswith("added"):
            state[name] += value
        else:
            state[name] = value
    state[WORDS] += low[LOW_LEFT] @ low[LOW_RIGHT]
    return state, about
