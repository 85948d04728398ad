"""Tiny encoders of other architectures than BERT's, on a hub of the tests' own, opened as a reader opens them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from transformers import ElectraConfig, ElectraModel

from demos.bert.model.models import LoadedModel, ModelStore
from tests.bert.family.tiny_family import write
from tests.bert.model.local_hub import in_its_place
from tests.bert.model.many_models import ManyModels, Repository, with_tokenizer

KINDS = ("roberta", "xlm-roberta", "albert", "electra")
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 32, "max_position_embeddings": 514}


def write_encoder(kind: str, folder: Path) -> Path:
    """A random one of 3 layers, 4 heads and width 32, and its tokenizer."""
    if kind != "electra":
        write(kind, folder, **SIZES)
        return folder
    torch.manual_seed(3)
    ElectraModel(ElectraConfig(**SIZES, embedding_size=16, intermediate_size=48)).save_pretrained(folder)
    return with_tokenizer(folder)


@contextmanager
def opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModelStore, Mapping[str, LoadedModel]]]:
    """A store with all of KINDS opened by name: (the store, the models by kind)."""
    repositories = {f"someone/{kind}": Repository(write_encoder(kind, root / kind)) for kind in KINDS}
    handler = type("Hub", (ManyModels,), {"repositories": repositories, "asked": []})
    with in_its_place(handler, monkeypatch, root / "cache"):
        store = ModelStore(any_model=True)
        yield store, {kind: store.get(store.find(f"someone/{kind}").key) for kind in KINDS}
