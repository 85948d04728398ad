"""Which states move with the last word, against transformers' own encoder and decoder."""

import numpy as np
import pytest
import torch

from demos.bert.causal.last_word import changes
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

TEXT = "The dog saw the cat."


@pytest.mark.parametrize("decoder", [False, True])
def test_the_changes_are_those_of_transformers_states(tiny: LoadedModel, decoder: bool) -> None:
    found = changes(tiny, TEXT, "hall", decoder=decoder)
    theirs = type(tiny.model)(type(tiny.model.config)(**{**tiny.model.config.to_dict(), "is_decoder": decoder})).eval()
    theirs.load_state_dict(tiny.model.state_dict())
    states = []
    for text in (TEXT, "The dog saw the hall."):
        ids = torch.tensor([tiny.tokenizer(text)["input_ids"]])
        with torch.inference_mode():
            states.append(theirs(ids[:, :-1] if decoder else ids, output_hidden_states=True).hidden_states)
    compared = ~np.isnan(found.moved[0])
    for layer, (old, new) in enumerate(zip(*states, strict=True)):
        if old.shape == new.shape:
            expected = 1 - torch.cosine_similarity(old[0], new[0], dim=-1).numpy()
            np.testing.assert_allclose(found.moved[layer, compared], expected[compared], atol=1e-5)
    before = found.replaced[0]
    assert found.encoding.tokens[before] != "."
    if decoder:
        assert "[SEP]" not in found.encoding.tokens
        assert (found.moved[:, :before] == 0).all()
    else:
        assert (found.moved[1:, :before] > 0).all()
    assert (found.moved[0, :before] == 0).all()


def test_words_of_different_lengths_are_compared_from_both_ends(tiny: LoadedModel) -> None:
    found = changes(tiny, TEXT, "unbelievably")
    n, first = len(found.encoding), found.replaced[0]
    if len(tiny.tokenizer.tokenize("unbelievably")) != len(tiny.tokenizer.tokenize("cat")):
        assert np.isnan(found.moved[:, list(found.replaced)]).all()
    assert not np.isnan(found.moved[:, :first]).any()
    assert not np.isnan(found.moved[:, n - 2 :]).any()  # the full stop and [SEP]


def test_the_same_word_changes_nothing(tiny: LoadedModel) -> None:
    found = changes(tiny, TEXT, "cat")
    assert found.replaced == ()
    assert np.abs(found.moved).max() < 1e-6


@pytest.mark.parametrize(("text", "word"), [("", "x"), ("?!", "x"), (TEXT, " "), ("a " * 300, "x")])
def test_what_can_not_be_compared(tiny: LoadedModel, text: str, word: str) -> None:
    with pytest.raises(UserError):
        changes(tiny, text, word)
