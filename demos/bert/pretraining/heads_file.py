"""The file of our own pre-training heads: what is in it, and how the bundled encoder takes it.

The trained encoder differs from the bundled one in every layer. The differences are small, so the file holds
them in 4 bits and the new parts in 8 or 16; the word embeddings, which are the decoder too, change by a
matrix of low rank (Hu et al. 2021, LoRA). demos/training/pretraining/offline/writing.py writes it;
assets/pretraining/README.md says how the numbers came about.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open

WORDS = "bert.embeddings.word_embeddings.weight"  # the decoder is tied to it
LOW_LEFT, LOW_RIGHT = "words.left", "words.right"  # [V, r] and [r, d]: their product is added to the word embeddings


class Packed(NamedTuple):
    """A matrix [rows, columns] in 4 or 8 bits a number: integers, with a scale for each group of a row's numbers."""

    values: torch.Tensor  # <uint8>[rows, columns x bits / 8]; at 4 bits two a byte, the first in the low half
    scales: torch.Tensor  # <float16>[rows, groups]


def read_about(path: Path) -> dict[str, str]:
    """The file's own account of its training: "steps" and "tokens", both whole numbers as text."""
    with safe_open(path, framework="pt") as file:
        return dict(file.metadata() or {})


def unpack(packed: Packed, bits: int) -> torch.Tensor:
    """The matrix <float32>[rows, columns] again, each number within half a step of its group's scale."""
    values, scales = packed.values, packed.scales.float()
    if bits == 4:
        values = torch.stack((values & 15, values >> 4), dim=-1).flatten(1)
    whole = values.float() - 2 ** (bits - 1)
    return (whole.reshape(*scales.shape, -1) * scales[..., None]).flatten(1)


def read_heads(path: Path, bundled: Mapping[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """(the parameters of a BertForPreTraining, what the file says about itself). `bundled` is BertModel's own state.

    The decoder's matrix is left out, since it is the word embeddings.
    """
    state = {f"bert.{name}": value.clone() for name, value in bundled.items() if not name.startswith("pooler")}
    low: dict[str, torch.Tensor] = {}
    for name, kind, value in _stored(path):
        if name in (LOW_LEFT, LOW_RIGHT):
            low[name] = value
        elif kind.startswith("added"):
            state[name] += value
        else:
            state[name] = value
    if low:
        state[WORDS] += low[LOW_LEFT] @ low[LOW_RIGHT]
    return state, read_about(path)


def read_low(path: Path) -> dict[str, torch.Tensor]:
    """LOW_LEFT [V, r] and LOW_RIGHT [r, d] of a file; {} where its word embeddings are the bundled ones."""
    return {name: value for name, _, value in _stored(path, (LOW_LEFT, LOW_RIGHT)) if name in (LOW_LEFT, LOW_RIGHT)}


def _stored(path: Path, names: Collection[str] = ()) -> Iterator[tuple[str, str, torch.Tensor]]:
    """(name, kind, <float32>) of what the file stores, or of some `names` of it."""
    with safe_open(path, framework="pt") as file:
        for key in file.keys():  # noqa: SIM118  (not a mapping)
            name, _, kind = key.partition(":")
            if kind.endswith(".scales") or (names and name not in names):
                continue
            value = file.get_tensor(key)
            if "q" in kind:
                bits = int(kind.partition("q")[2].partition(".")[0])
                value = unpack(Packed(value, file.get_tensor(key.removesuffix("values") + "scales")), bits)
            yield name, kind, value.float()
