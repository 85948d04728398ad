"""The learned mix against plain torch and ELMo's own mix, its gradients, and each choice's states and scores."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from demos.bert.elmo.mixing import mixed, standardised
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training import layer_mix
from demos.training.layer_mix import (
    FIXED,
    MIX,
    STEPS,
    Comparison,
    Reading,
    ScalarMix,
    Step,
    chosen_layers,
    compare,
    fit_tagger,
    names_dataset,
    score_tagger,
    word_states,
)
from demos.training.tasks.entities.data import EntityDataset
from tests.bert.embeddings.stepping import walked


@pytest.fixture(scope="module")
def few() -> EntityDataset:
    """Some of the project's sentences."""
    whole = names_dataset()
    return replace(whole, train=whole.train[:24], test=whole.test[:12])


@pytest.fixture(scope="module")
def found(tiny: LoadedModel, few: EntityDataset) -> tuple[list[Reading | Step], Comparison]:
    return walked(compare(tiny, few))


def test_the_mix_is_the_formula_and_elmos() -> None:
    torch.manual_seed(1)
    states, mix = torch.randn(5, 3, 4), ScalarMix(3)
    torch.testing.assert_close(mix(states), states.mean(dim=1))  # it begins with equal shares
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.5, -1.0, 2.0]))
        mix.gamma.fill_(1.7)
    shares = torch.tensor([0.5, -1.0, 2.0]).exp() / torch.tensor([0.5, -1.0, 2.0]).exp().sum()
    by_loop = 1.7 * sum(shares[layer] * states[:, layer] for layer in range(3))
    torch.testing.assert_close(mix(states), by_loop)
    elmos = mixed(states.transpose(0, 1).numpy(), shares.numpy(), 1.7)
    np.testing.assert_allclose(mix(states).detach().numpy(), elmos, rtol=1e-5)


def test_its_gradients_are_the_differences_and_the_formulas() -> None:
    torch.manual_seed(2)
    mix = ScalarMix(4).double()
    states = torch.randn(6, 4, 3, dtype=torch.float64)
    with torch.no_grad():
        mix.weights.normal_()

    def call(weights: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(mix, {"weights": weights, "gamma": gamma}, (states,))

    inputs = tuple(value.detach().clone().requires_grad_() for value in (mix.weights, mix.gamma))
    assert torch.autograd.gradcheck(call, inputs)
    outer = torch.randn(6, 3, dtype=torch.float64)
    (mix(states) * outer).sum().backward()
    shares = mix.shares.detach()
    apart = states - torch.einsum("s,nsd->nd", shares, states)[:, None]
    expected = mix.gamma.detach() * shares * torch.einsum("nsd,nd->s", apart, outer)  # as formula.md says
    assert mix.weights.grad is not None
    torch.testing.assert_close(mix.weights.grad, expected)


def test_states_are_transformers_own_for_each_words_first_piece(tiny: LoadedModel, few: EntityDataset) -> None:
    sentences = [*few.train[:2], *few.test[:20]]
    states = drained(word_states(tiny, sentences)).numpy()
    at = 0
    for sentence in sentences:
        inputs = tiny.tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            hidden = tiny.model(**inputs, output_hidden_states=True).hidden_states
        for word in range(len(sentence.words)):
            place = inputs.word_ids().index(word)
            theirs = standardised(np.stack([layer[0, place].numpy() for layer in hidden]))
            np.testing.assert_allclose(states[at], theirs, atol=1e-4)
            at += 1
    assert at == len(states)


def test_the_choices_by_hand() -> None:
    states = torch.arange(2 * 7 * 3, dtype=torch.float32).reshape(2, 7, 3)
    by_name = {name: chosen_layers(name, states) for name in FIXED}
    torch.testing.assert_close(by_name["embeddings"], states[:, 0])
    torch.testing.assert_close(by_name["last"], states[:, 6])
    torch.testing.assert_close(by_name["second_to_last"], states[:, 5])
    torch.testing.assert_close(by_name["sum_all"], states[:, 1:].sum(dim=1) / 6)
    torch.testing.assert_close(by_name["sum_last_four"], states[:, 3:].sum(dim=1) / 4)
    torch.testing.assert_close(by_name["concat_last_four"], torch.cat([states[:, at] for at in (3, 4, 5, 6)], dim=1))


def test_the_training_finds_the_layer_that_knows() -> None:
    torch.manual_seed(3)
    targets = torch.arange(90) % 3
    states = torch.randn(90, 4, 8)
    states[:, 2, :3] += 4 * nn.functional.one_hot(targets, 3)
    mix = ScalarMix(4)
    steps = list(fit_tagger(states, targets, 3, mix))
    assert [step.step for step in steps] == list(range(STEPS + 1))
    assert steps[0].loss == pytest.approx(np.log(3))
    assert steps[0].shares == (0.25,) * 4
    assert all(sum(step.shares) == pytest.approx(1, abs=1e-5) for step in steps)
    assert steps[-1].loss < 0.1 * steps[0].loss
    assert int(np.argmax(steps[-1].shares)) == 2


def test_all_choices_are_scored_and_nothing_of_bert_changes(
    found: tuple[list[Reading | Step], Comparison], tiny: LoadedModel, few: EntityDataset
) -> None:
    events, result = found
    assert set(result.scores) == {*FIXED, MIX}
    assert result.widths["concat_last_four"] == 3 * 32  # it has two layers and the embeddings
    assert [event.step for event in events if isinstance(event, Step)][: STEPS + 1] == list(range(STEPS + 1))
    assert drained(compare(tiny, few)).scores == result.scores  # again the same: no random number is drawn


@pytest.mark.slow
def test_the_bundled_models_middle_layers_get_most(bundled: LoadedModel) -> None:
    """What the part's question says."""
    shares = drained(compare(bundled, names_dataset())).steps[-1].shares
    assert len(shares) == 7
    assert np.argmax(shares) in (2, 3, 4)
    assert max(shares[0], shares[-1]) < 0.15


def test_right_answers_score_1_and_none_0(few: EntityDataset) -> None:
    labels = torch.tensor([label for sentence in few.test for label in sentence.labels])
    assert score_tagger(nn.functional.one_hot(labels, len(few.labels)).float(), few).f1 == 1
    nothing = torch.zeros(len(labels), len(few.labels))
    assert score_tagger(nothing, few).f1 == 0


def test_a_model_too_large_is_refused_before_it_reads(
    tiny: LoadedModel, few: EntityDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_mix, "MOST_BYTES", 1000)
    with pytest.raises(UserError, match="Choose a smaller model"):
        next(word_states(tiny, few.train))
