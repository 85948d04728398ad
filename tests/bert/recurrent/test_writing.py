"""The recurrent network computes what torch's own does, and writes the words that its probabilities say."""

import numpy as np
import pytest
import torch

from demos.bert.recurrent.bundled import bundled
from demos.bert.recurrent.writing import LONGEST, MOST_TYPED, Step, read_beginning, write
from demos.bert.translation.bundled import bundled as translator
from demos.bert.translation.grammar import held_out
from demos.bert.translation.gru import BEGIN, END
from demos.errors import UserError


def text_of(steps: list[Step]) -> str:
    return " ".join(bundled().vocabulary.words[step.following + END] for step in steps)


def test_each_step_is_that_of_torchs_own_recurrent_layer() -> None:
    trained = bundled()
    words = held_out()[3].source
    steps = write(trained, words)
    own = torch.nn.RNN(trained.network.words.embedding_dim, len(steps[0].state), batch_first=True)
    own.load_state_dict(trained.network.recurrent.state_dict())
    inputs = torch.tensor([[BEGIN, *(trained.vocabulary.ids[word] for word in words)]])
    with torch.inference_mode():
        (states,), _ = own(trained.network.words(inputs))
        (logits,) = trained.network(inputs)
    stacked = torch.stack([step.state for step in steps[: len(words) + 1]])
    torch.testing.assert_close(stacked, states, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        torch.stack([step.probabilities for step in steps[: len(words) + 1]]), logits.softmax(-1), atol=1e-5, rtol=0
    )


def test_each_step_is_that_of_the_formula_in_numpy() -> None:
    weights = {name: values.double().numpy() for name, values in bundled().network.state_dict().items()}
    state, word = np.zeros(48), BEGIN
    for step in write(bundled(), ("the", "cats")):
        state = np.tanh(
            weights["recurrent.weight_ih_l0"] @ weights["words.weight"][word]
            + weights["recurrent.weight_hh_l0"] @ state
            + weights["recurrent.bias_ih_l0"]
            + weights["recurrent.bias_hh_l0"]
        )
        logits = weights["output.weight"] @ state + weights["output.bias"]
        shares = np.exp(logits - logits.max())
        np.testing.assert_allclose(step.state, state, atol=1e-5)
        np.testing.assert_allclose(step.probabilities, shares / shares.sum(), atol=1e-5)
        word = step.following + END


def test_greedy_text_takes_the_likeliest_and_ends_with_the_sentence() -> None:
    steps = write(bundled(), ("the", "cats"))
    assert [step.typed for step in steps] == [True, True] + [False] * (len(steps) - 2)
    assert [step.word for step in steps] == ["<s>", *text_of(steps).split()[:-1]]
    assert all(step.following == step.probabilities.argmax() for step in steps if not step.typed)
    assert text_of(steps).endswith(". </s>")
    assert len(steps) < LONGEST


def test_the_state_holds_a_plural_over_five_words() -> None:
    ids = bundled().vocabulary.ids
    for noun, verb, other in (("agreements", "were", "was"), ("laws", "were", "was"), ("project", "was", "were")):
        typed = ("the", noun, "on", "the", "european", "economic", "area")
        step = write(bundled(), typed)[len(typed)]
        assert step.probabilities[ids[verb] - END] > 0.9 > 0.05 > step.probabilities[ids[other] - END]


def test_random_text_follows_the_tempered_distribution() -> None:
    same, again, other = (text_of(write(bundled(), (), 1.0, seed)) for seed in (1, 1, 2))
    assert same == again != other
    first = write(bundled(), (), 2.0)[0]
    logits = first.probabilities.double().log()
    torch.testing.assert_close(first.tempered.double(), (logits / 2).softmax(-1), atol=1e-5, rtol=0)
    drawn = [write(bundled(), ("she",), 1.0, seed)[1] for seed in range(300)]
    counts = np.bincount([step.following for step in drawn], minlength=len(first.probabilities))
    expected = drawn[0].probabilities.numpy() * len(drawn)
    assert (np.abs(counts - expected) < 4 * np.sqrt(expected + 1)).all()
    cold = [write(bundled(), ("she", "does"), 0.1, seed)[2].following for seed in range(20)]
    assert {bundled().vocabulary.words[word + END] for word in cold} == {"not"}


def test_a_text_that_does_not_end_is_cut() -> None:
    assert max(len(write(bundled(), (), 3.0, seed)) for seed in range(30)) == LONGEST


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("the zebra", "“zebra” is not among the 157 English words that the network"),
        ("the " * (MOST_TYPED + 1), "at most 16 words"),
        ("x" * 10_000, "at most 16 words"),
        ("<s>", "“<s>” is not among"),
    ],
)
def test_what_can_not_be_read_is_one_sentence(typed: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_beginning(bundled(), typed)


def test_a_beginning_may_be_empty_and_has_the_translators_words() -> None:
    assert read_beginning(bundled(), " . ") == ()
    assert read_beginning(bundled(), "The CATS sleep.") == ("the", "cats", "sleep")
    assert bundled().vocabulary == translator("additive").source
