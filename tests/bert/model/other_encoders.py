"""Tiny encoders of other architectures than BERT's, on a hub of the tests' own, opened as a reader opens them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import ElectraConfig, ElectraModel

from demos.bert.model.models import LoadedModel, ModelStore
from tests.bert.family.tiny_family import write
from tests.bert.model.local_hub import in_its_place
from tests.bert.model.many_models import ManyModels, Repository, with_tokenizer

KINDS = ("roberta", "xlm-roberta", "albert", "electra", "modernbert")
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 32, "max_position_embeddings": 514}


def write_encoder(kind: str, folder: Path) -> Path:
    """A random one of 3 layers, 4 heads and width 32, and its tokenizer."""
    if kind != "electra":
        write(kind, folder, **SIZES)
        return folder
    torch.manual_seed(3)
    ElectraModel(ElectraConfig(**SIZES, embedding_size=16, intermediate_size=48)).save_pretrained(folder)
    return with_tokenizer(folder)


def far_apart(loaded: LoadedModel, n: int, layer: int) -> torch.Tensor:
    """<bool>[n, n]: the pairs of tokens that are further apart than a local layer of a ModernBERT reaches."""
    config, places = loaded.model.config, torch.arange(n)
    local = config.model_type == "modernbert" and config.layer_types[layer] == "sliding_attention"
    return (places[:, None] - places).abs() > (config.local_attention // 2 if local else n)


def own_arguments(loaded: LoadedModel, module: Any, n: int, layer: int) -> dict[str, Any]:
    """The arguments beside the states that a layer's module needs for one input of n tokens."""
    if loaded.model.config.model_type != "modernbert":
        return {"attention_mask": None}
    mask = torch.zeros(n, n).masked_fill(far_apart(loaded, n, layer), torch.finfo(torch.float32).min)
    turned = loaded.model.rotary_emb(mask, torch.arange(n)[None], module.attention_type)
    return {"attention_mask": mask, "position_embeddings": turned}


@contextmanager
def opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModelStore, Mapping[str, LoadedModel]]]:
    """A store with all of KINDS opened by name: (the store, the models by kind)."""
    repositories = {f"someone/{kind}": Repository(write_encoder(kind, root / kind)) for kind in KINDS}
    handler = type("Hub", (ManyModels,), {"repositories": repositories, "asked": []})
    with in_its_place(handler, monkeypatch, root / "cache"):
        store = ModelStore(any_model=True)
        yield store, {kind: store.get(store.find(f"someone/{kind}").key) for kind in KINDS}
