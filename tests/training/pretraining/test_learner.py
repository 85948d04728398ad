"""A step on a copy: its losses, gradients and moved rows against transformers' own class and PyTorch's own AdamW."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.training.pretraining.batches import collate, draw
from demos.training.pretraining.learner import INFINITE, Learner
from demos.training.pretraining.passage import read_passage
from demos.training.pretraining.rows import RowCounter

TEXT = "The hive is full. The bees prepare to swarm. A young queen lays her first eggs. Close the lid again."
RATE = 1e-3


def batch_of(pretrained: Pretrained, step: int = 1, size: int = 4, pairs: bool = True):
    passage = read_passage(pretrained.tokenizer, TEXT)
    return collate(draw(passage, pretrained.tokenizer, 0, step, size, pairs), 0)


def loss_of(model: BertForPreTraining, batch):
    return model(
        input_ids=batch.input_ids,
        attention_mask=batch.attention_mask,
        token_type_ids=batch.token_type_ids,
        labels=batch.labels,
        next_sentence_label=batch.following,
    )


def norm_of(parameters) -> float:
    return math.sqrt(sum(float((one.grad.double() ** 2).sum()) for one in parameters))


def test_a_step_is_transformers_own_and_the_shared_model_stays(whole: BertForPreTraining, pretrained: Pretrained):
    kept = {name: value.clone() for name, value in whole.state_dict().items()}
    reference = copy.deepcopy(whole).requires_grad_(True)
    batch = batch_of(pretrained)
    learner = Learner(pretrained)
    counter = RowCounter(learner.matrix, 0, closely=True)
    stepped = learner.step(batch, RATE, counter)

    found = loss_of(reference, batch)
    found.loss.backward()
    assert stepped.total == pytest.approx(found.loss.item(), abs=1e-5)
    asked = batch.labels != -100
    masked = torch.nn.functional.cross_entropy(found.prediction_logits[asked], batch.labels[asked], reduction="none")
    assert stepped.each == pytest.approx(masked.tolist(), abs=1e-5)
    assert stepped.masked + stepped.following == pytest.approx(found.loss.item(), abs=1e-5)
    assert stepped.guesses == tuple(found.prediction_logits[asked].argmax(dim=-1).tolist())
    bert, heads = reference.bert, reference.cls
    expected = {
        "embeddings": norm_of(bert.embeddings.parameters()),
        "layer 1": norm_of(bert.encoder.layer[0].parameters()),
        "layer 2": norm_of(bert.encoder.layer[1].parameters()),
        "word head": norm_of([*heads.predictions.transform.parameters(), heads.predictions.bias]),
        "sentence head": norm_of([*bert.pooler.parameters(), *heads.seq_relationship.parameters()]),
    }
    assert list(stepped.norms) == list(expected)
    assert stepped.norms == pytest.approx(expected, rel=1e-3)
    assert stepped.norm == pytest.approx(math.hypot(*expected.values()), rel=1e-3)

    # one AdamW step by PyTorch: matrices decay, embeddings, biases and LayerNorms do not
    torch.nn.utils.clip_grad_norm_(reference.parameters(), 1.0)
    spared = ("bias", "LayerNorm.weight", "embeddings.weight")
    named = list(reference.named_parameters())
    groups = [
        {"params": [one for name, one in named if not name.endswith(spared)], "weight_decay": 0.01},
        {"params": [one for name, one in named if name.endswith(spared)], "weight_decay": 0.0},
    ]
    before = reference.bert.embeddings.word_embeddings.weight.detach().clone()
    torch.optim.AdamW(groups, lr=RATE, eps=1e-6).step()
    after = reference.bert.embeddings.word_embeddings.weight.detach()
    rows = counter.rows(learner.matrix)
    np.testing.assert_allclose(rows.moved, (after - before).norm(dim=1).numpy(), atol=2e-4 * RATE * 32)
    for (name, one), two in zip(
        learner.parts.encoder.named_parameters(), reference.bert.parameters(), strict=True
    ):  # where the gradient is smaller than AdamW's epsilon, rounding decides the way
        assert (one - two).abs().max() < 0.05 * RATE, name
    assert learner.parts.decoder.weight is learner.parts.encoder.embeddings.word_embeddings.weight
    assert all(torch.equal(value, kept[name]) for name, value in whole.state_dict().items())
    assert not any(one.requires_grad for one in whole.parameters())


def test_rows_are_moved_by_the_input_and_by_the_decoder(whole: BertForPreTraining, pretrained: Pretrained):
    batch = batch_of(pretrained)
    learner = Learner(pretrained)
    counter = RowCounter(learner.matrix, 0, closely=True)
    learner.step(batch, RATE, counter)
    rows = counter.rows(learner.matrix)
    untied = copy.deepcopy(whole)  # the two jobs of the matrix, each with a gradient of its own
    untied.cls.predictions.decoder.weight = torch.nn.Parameter(whole.cls.predictions.decoder.weight.clone())
    untied.requires_grad_(True)
    loss_of(untied, batch).loss.backward()
    by_input = untied.bert.embeddings.word_embeddings.weight.grad.norm(dim=1).numpy()
    by_decoder = untied.cls.predictions.decoder.weight.grad.norm(dim=1).numpy()
    np.testing.assert_allclose(rows.by_input, by_input, atol=1e-6)
    np.testing.assert_allclose(rows.by_decoder, by_decoder, atol=1e-6)
    inputs = set(batch.input_ids.flatten().tolist()) - {0}
    assert set(np.flatnonzero(rows.by_input).tolist()) == inputs == set(np.flatnonzero(rows.in_input).tolist())
    assert (rows.by_decoder > 0).all()  # a softmax leaves no word out
    asked = batch.labels[batch.labels != -100]
    assert rows.as_answer.sum() == len(asked)
    assert rows.wrongly.sum() < len(asked)
    assert (rows.moved <= RATE * math.sqrt(32) * 1.001).all()


def test_random_weights_are_berts_own_beginning_and_the_seeds(whole: BertForPreTraining, pretrained: Pretrained):
    one, two, other = (Learner(pretrained, seed) for seed in (5, 5, 6))
    assert all(torch.equal(a, b) for a, b in zip(one.trained, two.trained, strict=True))
    assert not torch.equal(one.matrix, other.matrix)
    assert float(one.matrix.detach().std()) == pytest.approx(0.02, rel=0.01)
    assert float(one.parts.transform.dense.weight.detach().std()) == pytest.approx(0.02, rel=0.1)
    assert float(one.parts.relation.bias.detach().abs().max()) == 0
    steps = [[learner.step(batch_of(pretrained, at), RATE).total for at in (1, 2, 3)] for learner in (one, two)]
    assert steps[0] == steps[1]
    assert steps[0][0] == pytest.approx(math.log(30522) + math.log(2), abs=0.3)


def test_a_model_without_next_sentences_learns_words_alone(pretrained: Pretrained):
    learner = Learner(replace(pretrained, pooler=None, relation=None))
    stepped = learner.step(batch_of(pretrained, pairs=False), RATE)
    assert math.isnan(stepped.following)
    assert stepped.total == stepped.masked
    assert "sentence head" not in stepped.norms


def test_an_infinite_loss_is_told(pretrained: Pretrained):
    learner = Learner(pretrained)
    learner.matrix.data[:] = float("nan")
    with pytest.raises(UserError, match=INFINITE[:20]):
        learner.step(batch_of(pretrained), RATE)
