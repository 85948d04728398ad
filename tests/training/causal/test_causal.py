"""Training the decoder: the sampled softmax, the windows, one step's gradients, and what is written and read again."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from demos.bert.causal.decoder import next_word_logits, our_decoder
from demos.bert.causal.measured import measured
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.heads import our_heads
from demos.training.causal import making
from demos.training.causal.making import Plan, make, measure, step_gradients, trained_of, windows
from demos.training.causal.sampled import Candidates, draw, sampled_losses, shares_of
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.offline.corpus import Corpus, corpus_of

TEXTS = [[f"{word} number {at} is here and the day was long ." for at in range(9)] for word in ("apple", "river")]


@pytest.fixture(scope="module")
def corpus(bundled: LoadedModel) -> Corpus:
    return corpus_of(TEXTS, bundled.tokenizer)


def test_with_all_words_it_is_the_cross_entropy() -> None:
    generator = torch.Generator().manual_seed(1)
    states, words = (torch.randn(size, 8, generator=generator, requires_grad=True) for size in (5, 30))
    bias, answers = torch.randn(30, generator=generator), torch.tensor([3, 29, 0, 7, 7])
    drawn = Candidates(torch.arange(30), torch.zeros(30))
    losses = sampled_losses(states, words, bias, answers, drawn)
    expected = F.cross_entropy(states @ words.T + bias, answers, reduction="none")
    torch.testing.assert_close(losses, expected)
    own = torch.autograd.grad(losses.sum(), (states, words))
    for one, other in zip(own, torch.autograd.grad(expected.sum(), (states, words)), strict=True):
        torch.testing.assert_close(one, other)


def test_of_drawn_words_the_sum_is_right_on_average() -> None:
    generator = torch.Generator().manual_seed(2)
    states, words = torch.randn(4, 8, generator=generator), torch.randn(60, 8, generator=generator)
    bias, answers = torch.zeros(60), torch.tensor([1, 2, 3, 59])
    shares = shares_of(np.arange(60.0), 30)
    logits = states @ words.T
    own = logits.gather(1, answers[:, None])[:, 0]
    sums = [(sampled_losses(states, words, bias, answers, draw(shares, generator)) + own).exp() for _ in range(3000)]
    torch.testing.assert_close(torch.stack(sums).mean(0), logits.exp().sum(1), rtol=0.05, atol=0)


def test_about_as_many_words_are_drawn_as_asked() -> None:
    counts = 1e6 / np.arange(1.0, 30001.0)
    shares = shares_of(counts, 4000)
    assert float(shares.sum()) == pytest.approx(4000, rel=0.02)
    assert (shares[:100] == 1).all()
    assert float(shares.min()) > 0


def test_windows_begin_at_sentences_and_stay_in_a_document(corpus: Corpus, bundled: LoadedModel) -> None:
    rows = windows(corpus, 40, 20, bundled.tokenizer.cls_token_id, np.random.default_rng(0))
    assert rows.shape == (40, 20)
    assert (rows[:, 0] == bundled.tokenizer.cls_token_id).all()
    for row in rows:
        words = set(bundled.tokenizer.convert_ids_to_tokens(row[1:].tolist()))
        assert words & {"apple", "river"} in ({"apple"}, {"river"})
        assert bundled.tokenizer.convert_ids_to_tokens(int(row[1])) in {"apple", "river"}


@pytest.mark.slow
def test_a_step_has_the_gradients_of_the_exact_loss(corpus: Corpus, bundled: LoadedModel) -> None:
    parts = copy.deepcopy(Parts.of(our_heads(bundled)))
    trained = trained_of(parts)
    assert "bert.embeddings.word_embeddings.weight" not in trained
    for parameter in trained.values():
        parameter.requires_grad_(True)
    rows = windows(corpus, 2, 12, bundled.tokenizer.cls_token_id, np.random.default_rng(0))
    certain = torch.ones(len(bundled.tokenizer))
    loss = step_gradients(parts, rows, certain, torch.Generator().manual_seed(0), bundled.tokenizer.unk_token_id)
    gradients = {name: parameter.grad for name, parameter in trained.items()}
    for parameter in trained.values():
        parameter.grad = None
    loaded = our_heads(bundled)
    ours = type(loaded)(type(loaded.encoder)(loaded.encoder.spec, loaded.tokenizer, parts.encoder), parts.transform,
        parts.decoder, None, None, {})  # fmt: skip
    exact = F.cross_entropy(next_word_logits(ours, rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    exact.backward()
    assert loss == pytest.approx(exact.item(), abs=1e-4)
    for name in ("bert.encoder.layer.0.attention.self.query.weight", "cls.predictions.transform.dense.weight"):
        torch.testing.assert_close(gradients[name], trained[name].grad, atol=1e-4, rtol=1e-2)


@pytest.mark.slow
def test_a_short_training_writes_what_the_app_reads(
    corpus: Corpus, bundled: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making.signal, "signal", lambda *_: None)
    plan = Plan(tmp_path, minutes=1e-4, length=12, batch=2, candidates=500, sequences=2)
    make(plan, bundled, corpus, {"text": corpus})
    (line,) = (json.loads(text) for text in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())
    assert line["step"] >= 1
    decoder = our_decoder(bundled, plan.weights)
    assert decoder.about["steps"] == str(line["step"])
    state = torch.load(plan.state)["weights"]
    for name in ("encoder.layer.3.output.dense.weight", "embeddings.LayerNorm.bias"):
        close = decoder.encoder.model.get_parameter(name)
        torch.testing.assert_close(close, state[f"bert.{name}"], atol=2e-3, rtol=0)
    rows = windows(corpus, 2, 12, bundled.tokenizer.cls_token_id, np.random.default_rng(0))
    found = measure(decoder, rows, "text", 3)
    logits = next_word_logits(decoder, rows[:, :-1])[:, 3:].flatten(0, 1)
    expected = F.cross_entropy(logits, rows[:, 4:].flatten(), reduction="sum")
    assert found.nats == pytest.approx(expected.item(), rel=1e-5)
    assert (found.pieces, found.right) == (16, int((logits.argmax(-1) == rows[:, 4:].flatten()).sum()))
    make(plan, bundled, corpus, {"text": corpus})  # what has its minutes is only measured again
    assert json.loads((tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])["step"] == line["step"]


@pytest.mark.slow
def test_the_file_in_the_repository_is_what_was_measured(bundled: LoadedModel) -> None:
    """A few lines of common prose, which the trained decoder predicts far better than the head it began with."""
    text = "he looked at her for a moment, and then he said that he did not know what to do with the letter."
    rows = torch.tensor([bundled.tokenizer(text)["input_ids"][:-1]])
    found, before = (measure(model, rows, "") for model in (our_decoder(bundled), our_heads(bundled)))
    assert found.perplexity < 150 < 3000 < before.perplexity
    assert found.word_perplexity >= found.perplexity
    assert [one.perplexity < 400 for one in measured()] == [True] * 2
