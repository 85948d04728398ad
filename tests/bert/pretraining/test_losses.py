"""The masked-word loss against BertForPreTraining's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import Shares, corrupt
from demos.bert.pretraining.losses import answers


def test_answers_are_bert_for_pretrainings_own(tiny: LoadedModel) -> None:
    torch.manual_seed(1)
    whole = BertForPreTraining(tiny.model.config).eval()
    torch.nn.init.normal_(whole.cls.predictions.bias)
    encoding = encode(tiny.tokenizer, "The unhurried gardener watered her hydrangeas before the sun came up.")
    corruption = corrupt(tiny.tokenizer, encoding.input_ids, np.random.default_rng(2), Shares(chosen=0.4))
    ids, labels = torch.tensor(corruption.input_ids)[None], torch.tensor(corruption.labels)[None]
    with torch.no_grad():
        theirs = whole(ids, labels=labels, next_sentence_label=torch.tensor([0]))
        order = torch.nn.functional.cross_entropy(theirs.seq_relationship_logits, torch.tensor([0]))
        hidden = whole.bert(ids).last_hidden_state[0]
    found = answers(whole.cls.predictions, tiny.tokenizer, hidden, corruption)
    assert found.mean == pytest.approx((theirs.loss - order).item(), abs=1e-5)
    chances = theirs.prediction_logits[0].softmax(-1)
    assert [one.place for one in found.each] == corruption.chosen.tolist()
    for one in found.each:
        row = chances[one.place]
        assert one.truth.token == encoding.tokens[one.place]
        assert one.truth.probability == pytest.approx(row[encoding.input_ids[one.place]].item(), rel=1e-4)
        assert one.loss == pytest.approx(-row[one.truth.token_id].log().item(), abs=1e-5)
        assert one.best.token_id == row.argmax()
        assert one.rank == row.argsort(descending=True).tolist().index(one.truth.token_id) + 1
