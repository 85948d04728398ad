"""Who sees what: the picture holds the changes of both models, and the program prints the decoder's."""

from typing import Any

import numpy as np
import pytest

from demos.bert.causal.last_word import changes
from demos.errors import UserError
from demos.lessons.family.last_word.part import LastWord, answer
from demos.page.services import Sentence, Services
from tests.programs import printed
from tests.shown_values import shown_values

TEXT = "The old man walked slowly to the bank"


def drawn(services: Services, sentence: Sentence, word: str) -> dict[str, Any]:
    return shown_values(LastWord().shown(services, sentence, other_word=word))


def test_the_pictures_hold_both_models_changes(services: Services) -> None:
    sentence = Sentence(TEXT, "", "minilm")
    values = drawn(services, sentence, "river")
    models = (services.loaded("minilm"), services.decoder().encoder)
    for trace, loaded, decoder in zip(values["plot"].data, models, (False, True), strict=True):
        found = changes(loaded, TEXT, "river", decoder=decoder)
        np.testing.assert_allclose(np.array(trace.z, float), found.moved, atol=1e-5)
    upper, lower = (np.array(trace.z, float) for trace in values["plot"].data)
    assert (upper[-1, :8] > 0).all()
    assert (lower[:, :8] == 0).all()
    assert lower[1:, 8].min() > 0
    assert "change is exactly 0" in values["said"]
    masks = [~np.isnan(np.array(trace.z, float)) for trace in values["masks"].data]
    assert masks[0].all()
    np.testing.assert_array_equal(masks[1], np.tri(9, dtype=bool))
    assert answer(services, sentence, "river").facts == {"before": 8, "bert": 8, "changed": 0, "other": "river"}


def test_the_program_prints_the_decoders_changes(services: Services) -> None:
    lines = printed(drawn(services, Sentence(TEXT, "", "minilm"), "river")["program"])
    found = changes(services.decoder().encoder, TEXT, "river", decoder=True)
    names = [f"{token} " for token in found.encoding.tokens]
    assert [line.startswith(name) for line, name in zip(lines, names, strict=True)] == [True] * 9
    for line, value in zip(lines, found.moved[-1], strict=True):
        assert float(line.rsplit(" ", 1)[1]) == pytest.approx(value, abs=2e-4)


@pytest.mark.parametrize(("text", "word"), [("", "x"), (TEXT, ""), (TEXT, " "), ("word " * 300, "x")])
def test_what_can_not_be_compared_is_one_sentence(services: Services, text: str, word: str) -> None:
    with pytest.raises(UserError):
        drawn(services, Sentence(text, "", "minilm"), word)


def test_one_token_has_the_singular(services: Services) -> None:
    said = " ".join(str(drawn(services, Sentence("Hello", "", "minilm"), "cake")["said"]).split())
    assert "<b>1</b> of the 1 token before it has a different state" in said


def test_hostile_words_are_escaped(services: Services) -> None:
    values = drawn(services, Sentence("<b>bold</b> end", "", "minilm"), "<img src=x>")
    assert "<img" not in values["said"]
    assert "<img" not in values["numbers"]
    assert drawn(services, Sentence(TEXT, "", "minilm"), "bank")["said"].count("nothing changes") == 1
