"""Writes the file of our own pre-training heads, weights in few bits; demos/bert/pretraining/heads_file.py reads it."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file

from demos.bert.pretraining.heads_file import Packed

GROUP = 128  # numbers that share a scale, where a row can be cut into such groups; else the row shares one
SMALLEST = 2.0**-24  # the least float16 above zero


def write_heads(
    path: Path,
    trained: Mapping[str, torch.Tensor],
    bundled: Mapping[str, torch.Tensor],
    low: Mapping[str, torch.Tensor],
    about: Mapping[str, str],
) -> None:
    """Write what `trained`, named as BertForPreTraining's parameters, has beyond `bundled`, named as BertModel's.

    Matrices of the encoder are stored as differences in 4 bits, new matrices in 8, vectors in float16. `low` is empty,
    or LOW_LEFT [V, r] and LOW_RIGHT [r, d], which change the word embeddings. `about` is kept as the file's metadata.
    """
    tensors: dict[str, torch.Tensor] = {}
    for name, value in {**trained, **low}.items():
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


def pack(matrix: torch.Tensor, bits: int) -> Packed:
    """Integers of 4 or 8 bits: the largest number of a group becomes the largest integer, so nothing is cut off.

    Raises ValueError for other counts of bits, and for an odd number of columns at 4.
    """
    rows, columns = matrix.shape
    if bits not in (4, 8) or (bits == 4 and columns % 2):
        raise ValueError(f"{columns} columns can't be packed in {bits} bits")
    size = GROUP if columns % GROUP == 0 else columns
    grouped = matrix.float().reshape(rows, -1, size)
    top = 2 ** (bits - 1) - 1
    scales = (grouped.abs().amax(dim=-1) / top).clamp(min=SMALLEST).half()
    whole = (grouped / scales.float()[..., None]).round().clamp(-top, top).reshape(rows, columns)
    unsigned = (whole + 2 ** (bits - 1)).to(torch.uint8)
    if bits == 4:
        unsigned = unsigned[:, 0::2] | (unsigned[:, 1::2] << 4)
    return Packed(unsigned.contiguous(), scales)
