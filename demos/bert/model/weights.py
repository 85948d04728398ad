"""Weights from a folder into a model, one model at a time.

While transformers reads a model it switches tied weights off for every model of the process and switches them on again
with what it found before (`no_tie_weights` in its `initialization.py`). Two readings that overlap can leave them off
for good: every model with a masked-word head that is made afterwards has lost the tie to its word embeddings, and no
error says so. So all of them take turns here.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import torch

ALONE = threading.RLock()  # held by whoever reads a model, or makes one whose weights are tied


def read_weights(kind: Any, folder: Path | str, attention: str = "eager", **options: Any) -> Any:
    """`kind.from_pretrained` in float32: safetensors only, no code from the folder, no hub."""
    with ALONE:
        return kind.from_pretrained(
            folder,
            attn_implementation=attention,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            **options,
        )
