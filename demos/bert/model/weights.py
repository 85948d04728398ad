"""Weights from a folder into a model, one model at a time; the files that they lie in.

While transformers reads a model it switches tied weights off for every model of the process and switches them on again
with what it found before (`no_tie_weights` in its `initialization.py`). Two readings that overlap can leave them off
for good: every model with a masked-word head that is made afterwards has lost the tie to its word embeddings, and no
error says so. So all of them take turns here.
"""

import json
import threading
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from demos.bert.model.fetching import WEIGHTS
from demos.bert.model.linear import quicken

INDEX = "model.safetensors.index.json"  # which tensor lies in which file, where there are several

ALONE = threading.RLock()  # held while a model is read, or made with tied weights


def read_weights(kind: Any, folder: Path | str | None, attention: str = "eager", **options: Any) -> Any:
    """`kind.from_pretrained` in float32: safetensors only, no code from the folder, no hub.

    Without a folder, `options` have the configuration and the weights. The model's products are by the quicker library.
    """
    with ALONE:
        read = kind.from_pretrained(
            folder,
            attn_implementation=attention,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            **options,
        )
    quicken(read[0] if isinstance(read, tuple) else read)
    return read


def files_in(index: Any) -> list[str]:
    """The names of the files in an index, which was read from JSON; raises ValueError for what is no index."""
    named = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
        raise ValueError("no index of weights")
    return sorted(set(named.values()))


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder: the one, else those that its index names; none where there is neither."""
    if (folder / WEIGHTS).is_file() or not (folder / INDEX).is_file():
        return [folder / WEIGHTS] if (folder / WEIGHTS).is_file() else []
    return [folder / name for name in files_in(json.loads((folder / INDEX).read_text(encoding="utf-8")))]


def float32_bytes(folder: Path) -> int:
    """The bytes of a folder's weights once they are read, as float32, in whatever precision they are stored."""
    count = 0
    for path in weight_files(folder):
        with safe_open(path, "pt") as file:
            count += sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118  no mapping
    return 4 * count


def save_half(module: nn.Module, path: Path, **metadata: str) -> None:
    """A small model of ours: its weights in float16, and `metadata` with them."""
    tensors = {name: tensor.half().contiguous() for name, tensor in module.state_dict().items()}
    save_file(tensors, path, metadata=metadata)


def read_stored(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """(weights in float32, metadata) of what `save_half` wrote."""
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name).float() for name in file.keys()}, file.metadata()  # noqa: SIM118  (no dict)
