"""The causal forward pass, its losses and its gradients are those of transformers' own decoder."""

import copy
import math

import numpy as np
import pytest
import torch
from transformers import BertLMHeadModel

from demos.bert.causal.decoder import WINDOW, next_word_logits, our_decoder
from demos.bert.causal.writing import Method, beginning, choose, next_logits, next_word, window, write
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import Pretrained

Decoders = tuple[Pretrained, BertLMHeadModel]


def test_logits_loss_and_gradients_are_transformers_own(decoders: Decoders) -> None:
    ours, theirs = copy.deepcopy(decoders)
    for part in (ours.encoder.model, ours.transform, ours.decoder, theirs):
        part.requires_grad_(True)
    ids = torch.randint(5, 60, (2, 9), generator=torch.Generator().manual_seed(0))
    logits = next_word_logits(ours, ids)
    expected = theirs(ids, labels=ids, use_cache=False)
    torch.testing.assert_close(logits, expected.logits, atol=1e-5, rtol=1e-5)
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    torch.testing.assert_close(loss, expected.loss, atol=1e-5, rtol=1e-5)
    loss.backward()
    expected.loss.backward()
    for part, other in (
        (ours.encoder.model, theirs.bert),
        (ours.transform, theirs.cls.predictions.transform),
        (ours.decoder, theirs.cls.predictions.decoder),
    ):
        own = dict(part.named_parameters())
        for name, parameter in other.named_parameters():
            torch.testing.assert_close(own[name].grad, parameter.grad, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ours.decoder.bias.grad, theirs.cls.predictions.bias.grad, atol=1e-5, rtol=1e-4)


def test_no_token_depends_on_a_later_one(decoders: Decoders) -> None:
    ids = torch.tensor([[2, 7, 8, 9, 10], [2, 7, 8, 30, 31]])
    first, second = next_word_logits(decoders[0], ids)
    torch.testing.assert_close(first[:3], second[:3])
    assert not torch.allclose(first[3], second[3])


def test_greedy_writing_is_transformers_generate(decoders: Decoders) -> None:
    ours, theirs = decoders
    start = [2, 7, 8, 9]
    expected = theirs.generate(
        torch.tensor([start]), max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0
    )[0, len(start) :].tolist()
    assert [one.guess.token_id for one in write(ours, start, Method(), 6)] == expected


def test_a_long_text_is_read_from_its_end(decoders: Decoders) -> None:
    ids = [2, *range(5, 55)] * 3
    assert len(window(ids)) == WINDOW
    assert window(ids) == [2, *ids[1 - WINDOW :]]
    assert window([2, 7]) == [2, 7]
    torch.testing.assert_close(next_logits(decoders[0], ids), next_logits(decoders[0], window(ids)))


def test_draws_follow_the_distribution(decoders: Decoders) -> None:
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -3.0])
    method = Method(False, Sampling(0.8, 4, 0.97), 5)
    _, final = choose(logits, method, 0)
    drawn = [choose(logits, method, place)[0] for place in range(4000)]
    found = np.bincount(drawn, minlength=5) / len(drawn)
    np.testing.assert_allclose(found, final.numpy(), atol=4 * math.sqrt(0.25 / len(drawn)))
    assert 4 not in drawn
    assert choose(logits, Method(), 0)[0] == 0


def test_one_by_one_writes_what_all_at_once_writes(decoders: Decoders) -> None:
    method, start = Method(False, Sampling(1.3), 9), [2, 7, 8]
    at_once = [one.guess.token_id for one in write(decoders[0], start, method, 5)]
    ids = list(start)
    for token in at_once:
        found = next_word(decoders[0], ids, method, 3)
        assert found.chosen.guess.token_id == token
        ids.append(token)
    assert at_once == [one.guess.token_id for one in write(decoders[0], start, method, 5)]
    assert at_once != [one.guess.token_id for one in write(decoders[0], start, Method(False, Sampling(1.3), 10), 5)]


def test_what_is_told_of_a_choice(decoders: Decoders) -> None:
    found = next_word(decoders[0], [2, 7, 8], Method(False, Sampling(1.0, 3), 1), 5)
    logits = decoders[1](torch.tensor([[2, 7, 8]])).logits[0, -1]
    own = logits.softmax(-1)
    assert found.choices == 3
    assert found.covered == pytest.approx(own.topk(3).values.sum().item(), abs=1e-5)
    assert found.entropy == pytest.approx(torch.distributions.Categorical(logits=logits).entropy().item(), abs=1e-3)
    assert [one.drawn > 0 for one in found.best] == [True] * 3 + [False] * 2
    assert found.best[found.rank - 1] == found.chosen
    for one in found.best:
        assert one.guess.probability == pytest.approx(own[one.guess.token_id].item(), abs=1e-5)


def test_the_bundled_decoder_goes_on_from_a_text(bundled: LoadedModel) -> None:
    decoder = our_decoder(bundled)
    assert beginning(decoder, "") == (bundled.tokenizer.cls_token_id,)
    found = next_word(decoder, beginning(decoder, "He looked at her and said that he did not"), Method(), 5)
    assert "know" in {one.guess.token for one in found.best}
    assert found.chosen == found.best[0]
