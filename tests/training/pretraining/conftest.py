"""A tiny random BERT with both heads, as transformers makes it and as the app holds it."""

from dataclasses import replace

import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import Pretrained


@pytest.fixture(scope="session")
def whole(tiny: LoadedModel) -> BertForPreTraining:
    """Never trained: tests copy it."""
    torch.manual_seed(3)
    model = BertForPreTraining(tiny.model.config)
    model.set_attn_implementation("eager")
    return model.eval().requires_grad_(False)


@pytest.fixture(scope="session")
def pretrained(tiny: LoadedModel, whole: BertForPreTraining) -> Pretrained:
    """The same model in the app's own form."""
    words, relation = whole.cls.predictions, whole.cls.seq_relationship
    encoder = LoadedModel(replace(tiny.spec, mlm=True, nsp=True), tiny.tokenizer, whole.bert)
    return Pretrained(encoder, words.transform, words.decoder, whole.bert.pooler, relation, {"trained_by": "nobody"})
