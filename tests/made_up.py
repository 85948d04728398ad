"""A made-up input and its run, for figures that need no model; and a random DistilBERT."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.bert.model.run import Run

if TYPE_CHECKING:
    from demos.bert.model.models import LoadedModel

GENERATOR = np.random.default_rng(7)


def encoding_of(tokens: list[str], b: int | None = None, text: str = "a") -> Encoding:
    n = len(tokens)
    special = [int(token in {"[CLS]", "[SEP]"}) for token in tokens]
    return Encoding(
        text=text,
        text_pair="b" if b else "",
        tokens=tuple(tokens),
        input_ids=tuple(range(n)),
        token_type_ids=tuple(int(b is not None and i >= b) for i in range(n)),
        word_ids=tuple(None if mark else i for i, mark in enumerate(special)),
        sequence_ids=tuple(None if mark else 0 for mark in special),
        offsets=tuple((i, i + 1) for i in range(n)),
        special_tokens_mask=tuple(special),
    )


def run_of(layers: int, heads: int, n: int, text: str = "a") -> Run:
    scores = np.exp(GENERATOR.normal(0, 3, (layers, heads, n, n))).astype(np.float32)
    tokens = ["[CLS]", *[f"word{i}" for i in range(n - 2)], "[SEP]"]
    attentions = scores / scores.sum(-1, keepdims=True)
    return Run("m", encoding_of(tokens, text=text), np.zeros((layers + 1, n, 4), np.float32), attentions)


def distilbert(tokenizer: Any, folder: Path | None = None) -> LoadedModel:
    """A DistilBERT of 2 layers, 4 heads and width 32, whose modules have other names; it has no segments.

    In a `folder`, it is as the Hub has it.
    """
    import torch
    from transformers import DistilBertConfig, DistilBertModel

    from demos.bert.model.models import LoadedModel

    torch.manual_seed(0)
    config = DistilBertConfig(vocab_size=30522, dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    model = DistilBertModel(config).eval().requires_grad_(False)
    if folder:
        own = copy.deepcopy(tokenizer)
        own.model_input_names = ["input_ids", "attention_mask"]
        for saved in (own, model):
            saved.save_pretrained(folder)
    model.set_attn_implementation("eager")
    spec = ModelSpec("distil", "Tiny DistilBERT", str(folder or ""), "", 2, 4, 32, cased=False, segments=False)
    return LoadedModel(spec, tokenizer, model)
