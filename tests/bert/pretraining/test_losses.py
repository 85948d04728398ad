"""Both pre-training losses against BertForPreTraining's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import corrupt
from demos.bert.pretraining.losses import answers, masked_losses, next_loss


def test_together_they_are_bert_for_pretrainings_own_loss(tiny: LoadedModel) -> None:
    torch.manual_seed(0)
    whole = BertForPreTraining(tiny.model.config).eval()
    for head in (whole.cls.predictions.decoder, whole.cls.seq_relationship):
        torch.nn.init.normal_(head.weight, std=0.5)
    vocabulary = tiny.model.config.vocab_size
    ids = torch.randint(vocabulary, (3, 12))
    labels = torch.where(torch.rand(3, 12) < 0.3, torch.randint(vocabulary, (3, 12)), -100)
    order = torch.tensor([0, 1, 1])
    with torch.no_grad():
        theirs = whole(ids, labels=labels, next_sentence_label=order)
        words = masked_losses(theirs.prediction_logits, labels)
        mine = words.mean + next_loss(theirs.seq_relationship_logits, order)
    torch.testing.assert_close(mine, theirs.loss, atol=1e-5, rtol=0)
    asked = [(row, place) for row in range(3) for place in range(12) if labels[row, place] >= 0]
    by_hand = [-theirs.prediction_logits[at].log_softmax(-1)[labels[at]] for at in asked]
    torch.testing.assert_close(words.each, torch.stack(by_hand), atol=1e-5, rtol=0)
    torch.testing.assert_close(words.mean, words.each.mean())


def test_it_can_be_learned_from_and_asks_for_something() -> None:
    logits = torch.zeros(4, 7, requires_grad=True)
    found = masked_losses(logits, torch.tensor([-100, 2, -100, 5]))
    found.mean.backward()
    assert logits.grad is not None
    assert logits.grad.abs().sum(dim=-1).gt(0).tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match="no token was chosen"):
        masked_losses(logits, torch.full((4,), -100))


def test_answers_are_bert_for_pretrainings_own(tiny: LoadedModel) -> None:
    torch.manual_seed(1)
    whole = BertForPreTraining(tiny.model.config).eval()
    torch.nn.init.normal_(whole.cls.predictions.bias)
    encoding = encode(tiny.tokenizer, "The unhurried gardener watered her hydrangeas before the sun came up.")
    corruption = corrupt(tiny.tokenizer, encoding.input_ids, np.random.default_rng(2), chosen=0.4)
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
