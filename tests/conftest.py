"""Shared by all tests: no hub in reach, a tiny random BERT for units, the bundled model for integration."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import pytest
import torch
from transformers import BertConfig, BertModel

from demos.bert.catalogue import BUNDLED, ModelSpec
from demos.bert.models import LoadedModel, ModelStore

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The catalogue's store; with no hub in reach only the bundled model loads."""
    return ModelStore()


@pytest.fixture(scope="session")
def bundled(store: ModelStore) -> LoadedModel:
    """The bundled MiniLM, shared by every integration test; never trained."""
    return store.get(BUNDLED)


@pytest.fixture(scope="session")
def tiny(store: ModelStore) -> LoadedModel:
    """A random BERT of 2 layers, 4 heads and width 32 over the bundled vocabulary: quick, and nobody's numbers."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    model = BertModel(config)
    model.set_attn_implementation("eager")
    spec = ModelSpec("tiny", "Tiny random BERT", "", "", 2, 4, 32, cased=False)
    return LoadedModel(spec, store.tokenizer(BUNDLED), model.eval().requires_grad_(False))
