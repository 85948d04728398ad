"""The BiLSTM tagger: its shapes, its padding, its seed, against PyTorch's own LSTM; its F1 by scikit-learn's counts."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.training import bilstm_tagger
from demos.training.bilstm_tagger import LAYERS, UNITS, BiLstmTagger, Epoch, fit_bilstm, tag_names
from demos.training.layer_mix import Reading, chosen_layers, names_dataset, word_states
from demos.training.tasks.entities.data import EntityDataset
from demos.training.tasks.entities.scores import spans_of
from tests.bert.embeddings.stepping import walked


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilstm_tagger, "EPOCHS", 2)


@pytest.fixture(scope="module")
def few() -> EntityDataset:
    whole = names_dataset()
    return replace(whole, train=whole.train[:24], test=whole.test[:12])


def some(*lengths: int) -> list[torch.Tensor]:
    drawn = torch.Generator().manual_seed(5)
    return [torch.randn(length, 6, generator=drawn) for length in lengths]


def test_padding_changes_nothing() -> None:
    tagger, sentences = BiLstmTagger(6, 3).eval(), some(2, 7, 1, 4)
    logits = tagger(sentences)
    assert logits.shape == (4, 7, 3)
    for row, sentence in zip(logits, sentences, strict=True):
        torch.testing.assert_close(row[: len(sentence)], tagger([sentence])[0])


def test_it_is_two_layers_read_in_both_directions() -> None:
    """The last layer's states by one LSTM cell a direction, word by word."""
    tagger, (sentence,) = BiLstmTagger(6, 3).eval(), some(5)
    states = sentence
    for layer in range(LAYERS):
        both = []
        for suffix, order in (("", range(5)), ("_reverse", range(4, -1, -1))):
            cell = nn.LSTMCell(states.shape[1], UNITS)
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            weights = {name: getattr(tagger.lstm, f"{name}_l{layer}{suffix}") for name in names}
            cell.load_state_dict(weights)
            found, state = {}, None
            for at in order:
                state = cell(states[at][None], state)
                found[at] = state[0][0]
            both.append(torch.stack([found[at] for at in range(5)]))
        states = torch.cat(both, dim=1)
    torch.testing.assert_close(tagger([sentence])[0], tagger.output(states))


def test_a_seed_gives_the_same_whatever_others_draw() -> None:
    sentences, labels = some(3, 5, 2), [(0, 1, 0), (2, 0, 0, 1, 0), (0, 0)]
    (one, epochs), before = drained(fit_bilstm(sentences, labels, 3, seed=4)), torch.random.get_rng_state()
    torch.rand(7)  # another thread's draws
    again, same = drained(fit_bilstm(sentences, labels, 3, seed=4))
    other, _ = drained(fit_bilstm(sentences, labels, 3, seed=5))
    assert epochs == same
    for name, weights in one.state_dict().items():
        assert torch.equal(weights, again.state_dict()[name])
        assert not torch.equal(weights, other.state_dict()[name])
    assert not one.training
    torch.random.set_rng_state(before)
    drained(fit_bilstm(sentences, labels, 3))
    assert torch.equal(torch.random.get_rng_state(), before)  # and it takes none of theirs


@pytest.mark.slow
def test_what_only_a_neighbour_tells_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word's label is the next word's sign: nothing in its own vector, which is all that a linear layer reads."""
    monkeypatch.setattr(bilstm_tagger, "EPOCHS", 30)
    sentences = some(*[4, 6, 5, 7] * 12)
    labels = [tuple((sentence[:, 0].roll(-1) > 0).long().tolist()) for sentence in sentences]
    tagger, epochs = drained(fit_bilstm(sentences, labels, 2))
    right = [
        (tagger([sentence])[0].argmax(-1) == torch.tensor(label))[:-1]
        for sentence, label in zip(sentences, labels, strict=True)
    ]
    assert torch.cat(right).float().mean() > 0.95
    assert epochs[-1].loss < 0.7 * epochs[0].loss


def test_its_score_is_that_of_its_answers(tiny: LoadedModel, few: EntityDataset) -> None:
    events, found = walked(tag_names(tiny, few, "concat_last_four"))
    assert [event.number for event in events if isinstance(event, Epoch)] == [1, 2]
    assert any(isinstance(event, Reading) for event in events)

    vectors = chosen_layers("concat_last_four", drained(word_states(tiny, [*few.train, *few.test])))
    lengths = [len(example.words) for example in [*few.train, *few.test]]
    rows = vectors.split(lengths)
    tagger, epochs = drained(fit_bilstm(rows[:24], [example.labels for example in few.train], len(few.labels)))
    true, answered = set(), set()
    for number, (example, row) in enumerate(zip(few.test, rows[24:], strict=True)):
        tags = [few.labels[label] for label in tagger([row])[0].argmax(-1).tolist()]
        answered |= {(number, span) for span in spans_of(tags)}
        true |= {(number, span) for span in spans_of([few.labels[label] for label in example.labels])}
    hits = len(true & answered)
    assert (found.score.true, found.score.found, found.score.hits) == (len(true), len(answered), hits)
    assert found.score.f1 == pytest.approx(2 * hits / (len(true) + len(answered)))
    assert found.epochs == epochs
    width, units = 3 * 32, 4 * UNITS  # tiny has two layers and the embeddings; four gates
    lstm = 2 * units * (width + UNITS + 2) + 2 * units * (2 * UNITS + UNITS + 2)
    assert found.parameters == lstm + (2 * UNITS + 1) * len(few.labels)
