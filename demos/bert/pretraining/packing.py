"""Weights in few bits: rows of integers with a scale for each group, for the small file of heads in assets/."""

from __future__ import annotations

from typing import NamedTuple

import torch

GROUP = 128  # numbers that share a scale, where a row can be cut into such groups; else the row shares one
SMALLEST = 2.0**-24  # the least float16 above zero


class Packed(NamedTuple):
    """A matrix [rows, columns] in `bits` a number."""

    values: torch.Tensor  # <uint8>[rows, columns x bits / 8]; at 4 bits two a byte, the first in the low half
    scales: torch.Tensor  # <float16>[rows, groups]


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


def unpack(packed: Packed, bits: int) -> torch.Tensor:
    """The matrix <float32>[rows, columns] again, each number within half a step of its group's scale."""
    values, scales = packed.values, packed.scales.float()
    if bits == 4:
        values = torch.stack((values & 15, values >> 4), dim=-1).flatten(1)
    whole = values.float() - 2 ** (bits - 1)
    return (whole.reshape(*scales.shape, -1) * scales[..., None]).flatten(1)
