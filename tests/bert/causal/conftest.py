"""A tiny random decoder, as the project holds it and as transformers does."""

import pytest
import torch
from transformers import BertConfig, BertLMHeadModel

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import Pretrained, of_bert


def both(tiny: LoadedModel, **sizes: int) -> tuple[Pretrained, BertLMHeadModel]:
    """Ours, whose encoder has no mask of its own, and transformers', which is causal; with the very same weights."""
    torch.manual_seed(3)
    config = BertConfig(**{**tiny.model.config.to_dict(), "is_decoder": True, "tie_word_embeddings": True, **sizes})
    theirs = BertLMHeadModel(config).eval()
    torch.nn.init.normal_(theirs.cls.predictions.bias)
    ours = BertLMHeadModel(BertConfig(**{**config.to_dict(), "is_decoder": False})).eval()
    ours.set_attn_implementation("eager")
    ours.load_state_dict(theirs.state_dict())
    return of_bert(tiny.spec, tiny.tokenizer, ours, {}), theirs


@pytest.fixture(scope="session")
def decoders(tiny: LoadedModel) -> tuple[Pretrained, BertLMHeadModel]:
    """Over the bundled vocabulary."""
    return both(tiny)


@pytest.fixture(scope="session")
def few_pieces(tiny: LoadedModel) -> tuple[Pretrained, BertLMHeadModel]:
    """Over ten word pieces, so that all texts can be computed."""
    return both(tiny, vocab_size=10)
