"""Attributions against finite differences, sums by hand and one plain pass a step or a word; attention beside them."""

import copy
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from demos.bert.attention import saliency
from demos.bert.attention.saliency import (
    STEPS,
    Score,
    agreement,
    attention_received,
    by_word,
    count_words,
    gradient_x_input,
    integrated_gradients,
    leave_one_out,
    only,
    outputs,
    similarity_to,
    word_logit,
)
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError

TEXT = "Frost bent the reeds."


@pytest.fixture(scope="module")
def exact(tiny: LoadedModel) -> LoadedModel:
    """The tiny model in float64, where a finite difference is worth something."""
    return replace(tiny, model=copy.deepcopy(tiny.model).double())


def mask_id(loaded: LoadedModel) -> int:
    return int(loaded.tokenizer.mask_token_id)


def scores(width: int) -> dict[str, Score]:
    generator = np.random.default_rng(5)
    weight = torch.tensor(generator.normal(size=(7, width)))
    head = nn.Linear(width, 7, dtype=torch.float64)
    head.weight.data = weight
    return {"similarity": similarity_to(generator.normal(size=width)), "word": word_logit(head, 2, 4)}


@pytest.mark.parametrize("name", ["similarity", "word"])
def test_equals_the_slope_along_each_embedding(exact: LoadedModel, name: str) -> None:
    score = scores(32)[name]
    encoding = encode(exact.tokenizer, TEXT)
    found = gradient_x_input(exact, encoding, score)
    embedded = exact.model.get_input_embeddings()(torch.tensor([encoding.input_ids]))

    def output(values: torch.Tensor) -> float:
        with torch.no_grad():
            return score(exact.model(inputs_embeds=values).last_hidden_state[0]).item()

    slopes = []
    for index in range(len(encoding)):
        step = torch.zeros_like(embedded)
        step[0, index] = 1e-5 * embedded[0, index]
        slopes.append((output(embedded + step) - output(embedded - step)) / 2e-5)
    np.testing.assert_allclose(found.values, slopes, atol=1e-8)
    assert np.abs(found.values).max() > 1e-5
    assert found.output == pytest.approx(output(embedded), abs=1e-12)


def test_of_a_linear_model_the_parts_add_up_to_the_output(tiny: LoadedModel) -> None:
    table = nn.Embedding.from_pretrained(torch.zeros(len(tiny.tokenizer), 2))

    class Linear(nn.Module):
        """Hidden states: the first number of each embedding twice, the second's three times with its sign turned."""

        def get_input_embeddings(self) -> nn.Embedding:
            return table

        def forward(self, inputs_embeds: torch.Tensor, **_: torch.Tensor) -> SimpleNamespace:
            return SimpleNamespace(last_hidden_state=inputs_embeds * torch.tensor([2.0, -3.0]))

    spec = ModelSpec("linear", "Linear", "", "", 1, 1, 2, cased=False)
    loaded = LoadedModel(spec, tiny.tokenizer, Linear())
    encoding = encode(tiny.tokenizer, "river")
    assert len(encoding) == 3
    table.weight[list(encoding.input_ids)] = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    found = gradient_x_input(loaded, encoding, lambda hidden: hidden.sum())
    assert found.values.tolist() == [2 * 1 - 3 * 2, 2 * 3 + 3 * 1, 1 - 1.5]
    assert found.values.sum() == pytest.approx(found.output)


@pytest.mark.parametrize("pair", ["", "seven reeds"])
def test_integrated_gradients_are_the_mean_slope_from_masks_to_words(exact: LoadedModel, pair: str) -> None:
    encoding = encode(exact.tokenizer, TEXT, pair)
    score = scores(32)["similarity"]
    plain = exact.tokenizer(TEXT, *filter(None, [pair]), return_tensors="pt")
    ids = plain.pop("input_ids")
    hidden = torch.where(torch.isin(ids, torch.tensor(exact.tokenizer.all_special_ids)), ids, mask_id(exact))
    first, last = (exact.model.get_input_embeddings()(one).detach() for one in (hidden, ids))
    expected = torch.zeros(ids.shape[1], dtype=torch.float64)
    for step in range(STEPS):  # one pass a step, and the gradient by backward() in place of autograd.grad
        at = (first + (step + 0.5) / STEPS * (last - first)).requires_grad_()
        score(exact.model(inputs_embeds=at, **plain).last_hidden_state[0]).backward()
        expected += ((last - first) * at.grad)[0].sum(dim=-1) / STEPS
    steps = integrated_gradients(exact, encoding, score)
    found = drained(steps)
    np.testing.assert_allclose(found.values, expected.numpy(), atol=1e-12)
    assert np.abs(found.values).max() > 1e-4
    whole, without = (score(exact.model(input_ids=one, **plain).last_hidden_state[0]).item() for one in (ids, hidden))
    assert found.output == pytest.approx(whole, abs=1e-12)
    assert found.values.sum() == pytest.approx(whole - without, abs=1e-5)  # completeness
    special = np.array(encoding.special_tokens_mask) == 1
    assert not found.values[special].any()


def test_integrated_gradients_tell_their_steps_in_few_passes(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = encode(tiny.tokenizer, TEXT)
    score = scores(32)["similarity"]
    assert list(integrated_gradients(tiny, encoding, score)) == [STEPS]
    monkeypatch.setattr(saliency, "PATH_TOKENS", 30 * len(encoding))
    assert list(integrated_gradients(tiny, encoding, score)) == [30, 60, 64]


def test_leave_one_out_is_the_fall_when_a_word_is_masked(exact: LoadedModel) -> None:
    text, pair = "unflappable frost", "bent the bank"
    encoding = encode(exact.tokenizer, text, pair)
    score = scores(32)["similarity"]
    words = [*text.split(), *pair.split()]
    assert count_words(encoding) == len(words)

    def output(words: list[str]) -> float:
        rows = exact.tokenizer(" ".join(words[:2]), " ".join(words[2:]), return_tensors="pt")
        return score(exact.model(**rows).last_hidden_state[0]).item()

    falls = []
    for word, _ in enumerate(words):
        pieces = encoding.word_index.count(word)
        hidden = [*words[:word], " ".join([exact.tokenizer.mask_token] * pieces), *words[word + 1 :]]
        falls.append(output(words) - output(hidden))
    assert max(map(encoding.word_index.count, range(len(words)))) > 1  # some word has several pieces
    np.testing.assert_allclose(leave_one_out(exact, encoding, score), falls, atol=1e-12)


def test_only_some_words_is_the_text_of_these_words(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "green river under seven stones", "slow paper")
    found = only(encoding, {1, 3, 6})
    expected = encode(tiny.tokenizer, "river seven", "paper")
    assert (found.tokens, found.input_ids) == (expected.tokens, expected.input_ids)
    assert found.token_type_ids == expected.token_type_ids
    assert found.word_index == expected.word_index
    assert only(encoding, ()).tokens == ("[CLS]", "[SEP]", "[SEP]")
    scored = outputs(tiny, [encoding, found], lambda hidden: hidden.mean())  # the shorter one is padded
    assert float(scored[1]) == pytest.approx(
        float(outputs(tiny, [expected], lambda hidden: hidden.mean())[0]), abs=1e-6
    )


def test_a_words_value_is_the_sum_of_its_pieces(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "unflappable bank")
    values = np.arange(1.0, len(encoding) + 1)
    assert by_word(encoding, values).tolist() == [values[1:-2].sum(), values[-2]]


def test_the_shared_model_gets_no_gradient_and_threads_agree(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, TEXT)
    score = similarity_to(np.ones(32, dtype=np.float32))
    alone = gradient_x_input(tiny, encoding, score)
    found: list[np.ndarray] = []

    def work() -> None:
        with torch.inference_mode(False):
            found.extend(gradient_x_input(tiny, encoding, score).values for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 15
    assert all(np.array_equal(values, alone.values) for values in found)
    assert all(p.grad is None and not p.requires_grad for p in tiny.model.parameters())


def test_the_output_is_the_cosine_that_the_run_gives(bundled: LoadedModel) -> None:
    one, other = run_model(bundled, [encode(bundled.tokenizer, text) for text in (TEXT, "Ice bowed the grass.")])
    vectors = [run.hidden_states[-1].mean(axis=0) for run in (one, other)]
    found = gradient_x_input(bundled, one.encoding, similarity_to(vectors[1]))
    theirs = vectors[0] @ vectors[1] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[1])
    assert found.output == pytest.approx(theirs, abs=1e-5)


def test_attention_received(tiny: LoadedModel) -> None:
    run = run_model(tiny, [encode(tiny.tokenizer, TEXT)])[0]
    weights = np.zeros((2, 4, 3, 3), dtype=np.float32)
    weights[1] = [[0.5, 0.25, 0.25], [1, 0, 0], [0, 0, 1]]
    weights[1, 0] = [[0.1, 0.8, 0.1], [0, 1, 0], [0, 1, 0]]
    by_hand = replace(run, attentions=weights)
    np.testing.assert_allclose(attention_received(by_hand, -1, "cls"), [1.6 / 4, 1.55 / 4, 0.85 / 4])
    np.testing.assert_allclose(attention_received(by_hand, 1, "mean"), [4.6 / 12, 3.55 / 12, 3.85 / 12])
    for rows in ("cls", "mean"):
        assert attention_received(run, 0, rows).sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(UserError, match="no rows"):
        attention_received(run, 0, "max")
    with pytest.raises(UserError, match="no layer"):
        attention_received(run, 2)


def test_agreement_is_one_in_the_same_order_and_minus_one_in_the_other() -> None:
    rising = np.array([0.1, 0.2, 5.0])
    assert agreement(rising, np.array([1.0, 4.0, 4.5])).spearman == pytest.approx(1)
    assert agreement(rising, -rising).kendall == pytest.approx(-1)
    first, second = np.random.default_rng(0).normal(size=(2, 9))
    found = agreement(first, second)
    ranks = [values.argsort().argsort() for values in (first, second)]
    assert found.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1])
    pairs = [(i, j) for i in range(9) for j in range(i)]
    signs = [np.sign((first[i] - first[j]) * (second[i] - second[j])) for i, j in pairs]  # in the same order, or not
    assert found.kendall == pytest.approx(sum(signs) / len(pairs))
    tied = agreement(np.array([1.0, 1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0, 4.0]))
    assert tied.kendall == pytest.approx(5 / np.sqrt(5 * 6))  # tau-b: 5 of 6 pairs agree, one is tied in the first row
    for constant in (np.zeros(4), np.array([1.0, 2.0])):
        assert agreement(constant, constant).spearman is None
