"""A hidden place's guesses at every layer against BertForPreTraining's own logits, entropies against scipy's."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import torch
from transformers import BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import Shares, corrupt
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.lens import Distribution, distributions, hide, leads_from, states
from demos.errors import UserError

Headed = tuple[Pretrained, BertForPreTraining]


def test_every_layer_is_the_models_own_head_on_its_states(headed: Headed) -> None:
    found, whole = headed
    encoding = hide(found.tokenizer, encode(found.tokenizer, "The old miller counted sacks.", "It rained."), [2, 5])
    assert encoding.tokens[2] == encoding.tokens[5] == "[MASK]"
    place, truth = 5, 7777
    mine = states(found.encoder, [encoding], every=True)[:, 0, place].numpy()
    layers = distributions(found.word_logits, found.tokenizer, mine, 7, truth)
    with torch.no_grad():
        output = whole(
            input_ids=torch.tensor([encoding.input_ids]),
            token_type_ids=torch.tensor([encoding.token_type_ids]),
            output_hidden_states=True,
        )
        logits = [whole.cls.predictions(state)[0, place] for state in output.hidden_states]
    assert len(layers) == len(logits) == 3
    torch.testing.assert_close(logits[-1], output.prediction_logits[0, place])  # the lens' last row is the model
    for one, row in zip(layers, logits, strict=True):
        chances = row.double().softmax(-1).numpy()
        order = np.argsort(-chances)
        assert [guess.token_id for guess in one.best] == order[:7].tolist()
        assert [guess.token for guess in one.best] == found.tokenizer.convert_ids_to_tokens(order[:7].tolist())
        np.testing.assert_allclose([guess.probability for guess in one.best], chances[order[:7]], rtol=1e-4)
        np.testing.assert_allclose([guess.logit for guess in one.best], row[order[:7].copy()], atol=1e-4)
        assert one.covered == pytest.approx(chances[order[:7]].sum(), rel=1e-4)
        assert one.entropy == pytest.approx(scipy.stats.entropy(chances), rel=1e-5)
        assert one.choices == pytest.approx(np.exp(scipy.stats.entropy(chances)), rel=1e-4)
        assert one.target.token_id == truth
        assert one.target.probability == pytest.approx(chances[truth], rel=1e-3)
        assert one.rank == int(np.flatnonzero(order == truth)[0]) + 1
    watched = distributions(found.word_logits, found.tokenizer, mine, 1)
    assert {one.target.token_id for one in watched} == {int(logits[-1].argmax())}
    assert watched[-1].rank == 1


def test_losses_are_bert_for_pretrainings_own(tiny: LoadedModel) -> None:
    torch.manual_seed(1)
    whole = BertForPreTraining(tiny.model.config).eval()
    torch.nn.init.normal_(whole.cls.predictions.bias)
    encoding = encode(tiny.tokenizer, "The unhurried gardener watered her hydrangeas before the sun came up.")
    corruption = corrupt(tiny.tokenizer, encoding.input_ids, np.random.default_rng(2), Shares(chosen=0.4))
    ids, labels = torch.tensor(corruption.input_ids)[None], torch.tensor(corruption.labels)[None]
    with torch.no_grad():
        theirs = whole(ids, labels=labels, next_sentence_label=torch.tensor([0]))
        order = torch.nn.functional.cross_entropy(theirs.seq_relationship_logits, torch.tensor([0]))
        hidden = whole.bert(ids).last_hidden_state[0].numpy()
    places = corruption.chosen
    truths = corruption.labels[places].tolist()
    found = distributions(whole.cls.predictions, tiny.tokenizer, hidden[places], 1, truths)
    assert np.mean([one.loss for one in found]) == pytest.approx((theirs.loss - order).item(), abs=1e-5)
    chances = theirs.prediction_logits[0].softmax(-1)
    for one, place, truth in zip(found, places, truths, strict=True):
        row = chances[place]
        assert one.target.token == encoding.tokens[place]
        assert one.loss == pytest.approx(-row[truth].log().item(), abs=1e-5)
        assert one.best[0].token_id == row.argmax()
        assert one.rank == row.argsort(descending=True).tolist().index(truth) + 1


def test_a_batch_of_padded_inputs_has_each_ones_states(headed: Headed) -> None:
    found, whole = headed
    encodings = [encode(found.tokenizer, text) for text in ("Short.", "A rather longer sentence of words.")]
    batch = states(found.encoder, encodings)
    assert batch.shape[:2] == (1, 2)
    for row, encoding in enumerate(encodings):
        with torch.no_grad():
            theirs = whole.bert(torch.tensor([encoding.input_ids])).last_hidden_state[0]
        torch.testing.assert_close(batch[0, row, : len(encoding)], theirs, atol=1e-5, rtol=0)


def test_entropy_of_the_extremes(headed: Headed) -> None:
    found, _ = headed
    rows = np.zeros((2, 4), dtype=np.float32)
    rows[1, 0] = 1e4

    def word_logits(hidden: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pad(hidden, (0, 30522 - 4), value=float(0))

    even, sure = distributions(word_logits, found.tokenizer, rows, 3)
    assert even.entropy == pytest.approx(np.log(30522))
    assert even.choices == pytest.approx(30522)
    assert sure.entropy == 0
    assert sure.covered == 1


def test_when_a_word_leads_for_good(headed: Headed) -> None:
    found, _ = headed
    one = distributions(found.word_logits, found.tokenizer, np.ones((1, 32), dtype=np.float32), 1)[0]

    def ranked(*ranks: int) -> list[Distribution]:
        return [replace(one, rank=rank) for rank in ranks]

    assert leads_from(ranked(9, 1, 3, 1, 1)) == 3
    assert leads_from(ranked(1, 1)) == 0
    assert leads_from(ranked(1, 2)) is None


def test_only_words_are_hidden(headed: Headed) -> None:
    found, _ = headed
    encoding = encode(found.tokenizer, "A cat.")
    assert hide(found.tokenizer, encoding, []) == encoding
    with pytest.raises(UserError, match="Token 0 is not a word"):
        hide(found.tokenizer, encoding, [1, 0])
