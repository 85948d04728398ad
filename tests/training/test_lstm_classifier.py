"""The LSTM that begins with nothing: its sentence vector against PyTorch's cells, and that it learns."""

from dataclasses import replace

import torch
from torch import nn

from demos.training import lstm_classifier
from demos.training.lstm_classifier import (
    PADDING,
    Classifier,
    Learned,
    Progress,
    lstm_score,
    lstm_steps,
    tensors,
    words_of,
)
from demos.training.tasks.classification.data import Dataset, Example, load_emotion

IDS = {"a": 2, "dog": 3, "runs": 4}


def examples(count: int) -> tuple[Example, ...]:
    words = ("red", "blue")
    return tuple(Example(f"this is {words[at % 2]} number {at}", at % 2) for at in range(count))


def dataset(count: int) -> Dataset:
    return replace(load_emotion(), labels=("red", "blue"), train=examples(count), test=examples(20))


def cell(lstm: nn.LSTM, suffix: str) -> nn.LSTMCell:
    made = nn.LSTMCell(lstm.input_size, lstm.hidden_size)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(made, name).data = getattr(lstm, f"{name}_l0{suffix}").data
    return made.requires_grad_(False)


def test_a_sentence_is_the_largest_of_its_states() -> None:
    torch.manual_seed(0)
    model = Classifier(5, 2, False).eval().requires_grad_(False)
    ids, _ = tensors([Example("A dog runs", 0), Example("zebra", 1)], IDS, False)
    assert ids.tolist() == [[2, 3, 4], [1, PADDING, PADDING]]
    sides = []
    for suffix, order in (("", (0, 1, 2)), ("_reverse", (2, 1, 0))):
        step, state = cell(model.lstm, suffix), None
        states = []
        for place in order:
            state = step(model.embedding(ids[0, place])[None], state)
            states.append(state[0][0])
        sides.append(torch.stack(states).amax(0))
    torch.testing.assert_close(model.sentence(ids)[0], torch.cat(sides))
    assert model.sentence(ids)[1].isfinite().all()


def test_it_learns_which_word_decides_and_is_the_same_again() -> None:
    found = lstm_score(dataset(40), examples(40), 1)
    assert found == (1.0, 1.0)
    assert lstm_score(dataset(40), examples(40), 1) == found


def test_its_steps_tell_how_far_it_is_and_what_it_cost() -> None:
    train, test = examples(40), examples(20)
    *told, last = lstm_steps(train, test, 2, 1)
    assert isinstance(last, Learned)
    assert last.epochs == lstm_classifier.MAX_EPOCHS
    assert told == [Progress(3 * epoch, last.steps) for epoch in range(1, last.epochs + 1)]  # 40 examples: 3 batches
    assert [example.label for example in test] == list(last.predicted)
    words = len({word for example in train for word in words_of(example.text)}) + 2
    d, e = lstm_classifier.WIDTH, lstm_classifier.EMBEDDING
    direction = 4 * (d * e + d * d + 2 * d)  # four gates: from the word, from the state, PyTorch's two biases
    assert last.parameters == words * e + 2 * direction + 2 * d * 2 + 2
    assert (last.accuracy, last.train_accuracy) == lstm_score(dataset(40), train, 1)
    assert last.seconds > 0


def test_pairs_and_texts_without_words(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(lstm_classifier, "STEPS", 2)
    pairs = tuple(replace(example, pair=" ") for example in examples(8))
    told = replace(dataset(8), train=pairs, test=pairs)
    assert told.kind == "pair"
    assert all(0 <= share <= 1 for share in lstm_score(told, pairs, 0))
    assert words_of("") == []
    assert len(words_of("word " * 500)) == lstm_classifier.LONGEST
