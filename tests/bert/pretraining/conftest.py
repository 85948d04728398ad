"""A tiny random BERT with random heads, as the project holds it and as transformers does."""

from dataclasses import replace

import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import Pretrained


@pytest.fixture(scope="session")
def headed(tiny: LoadedModel) -> tuple[Pretrained, BertForPreTraining]:
    """Both have the very same weights; the heads are large enough for some words to be likelier than others."""
    torch.manual_seed(11)
    whole = BertForPreTraining(tiny.model.config).eval().requires_grad_(False)
    whole.set_attn_implementation("eager")
    torch.nn.init.normal_(whole.cls.predictions.decoder.weight, std=0.6)
    torch.nn.init.normal_(whole.cls.predictions.decoder.bias)
    predictions = whole.cls.predictions
    found = Pretrained(
        encoder=LoadedModel(replace(tiny.spec, mlm=True, nsp=True), tiny.tokenizer, whole.bert),
        transform=predictions.transform,
        decoder=predictions.decoder,
        pooler=whole.bert.pooler,
        relation=whole.cls.seq_relationship,
        about={"trained_by": "nobody"},
    )
    return found, whole
