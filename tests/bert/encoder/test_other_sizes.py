"""Other models' parameters, counted by formula, are those of transformers' classes, built without memory."""

from typing import Any

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2Model,
    MarianConfig,
    MarianModel,
    OpenAIGPTConfig,
    OpenAIGPTModel,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5Model,
)

from demos.bert.encoder.other_sizes import OTHERS

BY_NAME = {known.name: known for known in OTHERS}


def gpt2(layers: int, width: int, heads: int, positions: int = 1024) -> GPT2Config:
    return GPT2Config(n_layer=layers, n_embd=width, n_head=heads, n_positions=positions)


def roberta(layers: int, width: int, heads: int) -> RobertaConfig:
    sizes = {"vocab_size": 50_265, "max_position_embeddings": 514, "type_vocab_size": 1}
    inner = 4 * width
    return RobertaConfig(
        num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, intermediate_size=inner, **sizes
    )


def albert(width: int, heads: int) -> AlbertConfig:
    return AlbertConfig(hidden_size=width, num_attention_heads=heads, intermediate_size=4 * width, num_hidden_layers=12)


def marian(width: int, heads: int) -> MarianConfig:
    """The first Transformer as transformers has it; the vocabulary's size is the paper's rounded one."""
    inner, sides = 4 * width, ("encoder", "decoder")
    sizes = {
        f"{side}_{name}": value for side in sides for name, value in (("attention_heads", heads), ("ffn_dim", inner))
    }
    return MarianConfig(vocab_size=37_000, pad_token_id=0, d_model=width, encoder_layers=6, decoder_layers=6, **sizes)


T5_BASE = T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, vocab_size=32_128)
T5_LARGEST = T5Config(d_model=1024, d_kv=128, d_ff=65_536, num_layers=24, num_heads=128, vocab_size=32_128)
MODELS: dict[str, tuple[Any, Any]] = {
    "Transformer, base": (MarianModel, marian(512, 8)),
    "Transformer, big": (MarianModel, marian(1024, 16)),
    "GPT": (OpenAIGPTModel, OpenAIGPTConfig()),
    "GPT-2, smallest": (GPT2Model, gpt2(12, 768, 12)),
    "GPT-2, largest": (GPT2Model, gpt2(48, 1600, 25)),
    "RoBERTa base": (RobertaModel, roberta(12, 768, 12)),
    "RoBERTa large": (RobertaModel, roberta(24, 1024, 16)),
    "DistilBERT": (DistilBertModel, DistilBertConfig()),
    "ALBERT base": (AlbertModel, albert(768, 12)),
    "ALBERT xxlarge": (AlbertModel, albert(4096, 64)),
    "T5 base": (T5Model, T5_BASE),
    "T5, largest": (T5Model, T5_LARGEST),
    "GPT-3": (GPT2Model, gpt2(96, 12_288, 96, 2048)),
}
SINES = ("encoder.embed_positions.weight", "decoder.embed_positions.weight")  # Marian's: nothing in them is learned
# What the papers say, in millions
PAPERS = {
    "Transformer, base": 65,
    "Transformer, big": 213,
    "GPT-2, largest": 1542,
    "RoBERTa large": 355,
    "DistilBERT": 66,
    "ALBERT base": 12,
    "ALBERT xxlarge": 235,
    "T5 base": 220,
    "T5, largest": 11_000,
    "GPT-3": 175_000,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_count_is_that_of_the_class(name: str) -> None:
    kind, config = MODELS[name]
    with torch.device("meta"):
        model = kind(config)
    learned = (weights for name, weights in model.named_parameters() if name not in SINES)
    assert sum(weights.numel() for weights in learned) == BY_NAME[name].parameters


def test_each_has_its_class() -> None:
    assert BY_NAME.keys() == MODELS.keys()


@pytest.mark.parametrize(("name", "millions"), PAPERS.items())
def test_the_paper_s_figure_is_near(name: str, millions: float) -> None:
    assert BY_NAME[name].parameters / 1e6 == pytest.approx(millions, rel=0.06)
