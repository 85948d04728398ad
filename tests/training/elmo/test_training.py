"""The training of the small ELMo: its losses against PyTorch's, and its command on a small text."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from demos.bert.elmo.bundled import load
from demos.bert.elmo.model import TwoWay
from demos.bert.elmo.words import SPECIAL, spelled
from demos.training.elmo import __main__ as command
from demos.training.elmo.text import common_words, grouped
from demos.training.elmo.training import losses, measure

TEXTS = [["the", "dog", "runs"], ["the", "cat", "runs"], ["a", "dog", "ate", "it"]]


def test_sentences_of_one_length_stand_together() -> None:
    known = common_words(TEXTS, 5)
    assert known == (*SPECIAL, "the", "dog")
    made = grouped(TEXTS, known)
    assert made.types[:5] == known
    assert {length: rows.shape for length, rows in made.of_length.items()} == {5: (2, 5), 6: (1, 6)}
    assert [made.types[at] for at in made.of_length[6][0]] == ["<s>", "a", "dog", "ate", "it", "</s>"]
    batches = [*made.batches(5, 1)]
    assert sorted(batch.shape for batch in batches) == [(1, 5), (1, 5), (1, 6)]


def test_losses_ask_only_for_known_words() -> None:
    torch.manual_seed(0)
    known = common_words(TEXTS, 5)
    made, model = grouped(TEXTS, known), TwoWay(5, 6)
    letters, batch = spelled(made.types), made.of_length[6]
    ahead, back = losses(model, letters, batch, 5)
    states = model.read(model.word_vectors(letters[torch.from_numpy(batch[0]).long()])[None])
    dog, end, begin = 4, 2, 1
    forward, backward = model.next_words(states)[0], model.words_before(states)[0]
    wanted = (cross_entropy(forward[1], torch.tensor(dog)) + cross_entropy(forward[4], torch.tensor(end))) / 2
    torch.testing.assert_close(ahead, wanted)
    wanted = (cross_entropy(backward[0], torch.tensor(begin)) + cross_entropy(backward[2], torch.tensor(dog))) / 2
    torch.testing.assert_close(back, wanted)
    perplexity = measure(model, made, 5)
    assert all(1 < value < 20 for value in perplexity.values())


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    book = "The dog runs home at once. The cat sat there all day. She saw the dog again. He went away.\n\n"
    (tmp_path / "books.txt").write_text(book * 14, encoding="utf-8")
    monkeypatch.setattr(command, "WORDS", 12)
    monkeypatch.setattr(command, "EVERY", 1)
    arguments = ["elmo", str(tmp_path / "books.txt"), str(tmp_path / "elmo.safetensors"), "--minutes", "0.02"]
    monkeypatch.setattr(sys, "argv", arguments)
    command.main()
    trained = load(tmp_path / "elmo.safetensors")
    assert len(trained.vocabulary) == 12
    assert str(trained.measured) in capsys.readouterr().out
    assert np.isfinite([trained.measured["forward"], trained.measured["backward"]]).all()
    assert trained.measured["forward"] < 12  # better than guessing among the words
    (tmp_path / "books.txt").write_text(book, encoding="utf-8")
    with pytest.raises(SystemExit):
        command.main()
