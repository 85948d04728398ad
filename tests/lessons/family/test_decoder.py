"""A decoder that writes: what is shown is what the decoder computes, for any text and any choice."""

from __future__ import annotations

from typing import Any

import pytest

from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.measured import measured
from demos.bert.causal.writing import MOST, Method, beginning, next_word, write
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.figures.numbers import percent
from demos.lessons.family.decoder.part import LONGEST, Story, drawn, read_method, written
from demos.lessons.family.decoder.program import writing_code
from demos.lessons.family.decoder.question import answer
from demos.page.services import Sentence, Services
from tests.one_line import one_line
from tests.programs import printed

TEXT = "He opened the door and"
GREEDY = ("greedy", 1, 0, 1, 1)
DRAWN = ("sampling", 0.8, 40, 0.9, 3)


@pytest.fixture(scope="module")
def services(store: ModelStore) -> Services:
    return Services(store, "minilm")


def last(services: Services, count: int, text: str, story: Story, *choices: Any) -> dict[str, Any]:
    *_, values = written(services, count, text, "", "minilm", story, *choices)
    return values


def test_the_bars_are_the_decoders_distribution(services: Services) -> None:
    decoder = services.decoder()
    values = drawn(services, Sentence(TEXT, "", "minilm"), Story(), *GREEDY)
    found = next_word(decoder, beginning(decoder, TEXT), Method(), 12)
    for one in found.best:
        assert percent(one.guess.probability) in values["next"]
    assert values["next"].count('class="rank"') == 12
    assert f"Entropy: <b>{found.entropy:.1f}</b>" in one_line(values["next"])
    assert f"{measured()[0].perplexity:,.0f}" in values["model"]
    assert answer(services, Sentence(TEXT, "", "minilm")).facts["piece"] == found.chosen.guess.token


@pytest.mark.parametrize("choices", [GREEDY, DRAWN])
def test_one_by_one_and_all_at_once_write_the_same(services: Services, choices: tuple[Any, ...]) -> None:
    story = last(services, 3, TEXT, Story(), *choices)["story"]
    single = Story()
    for _ in range(3):
        values = last(services, 1, TEXT, single, *choices)
        single = values["story"]
    assert single == story
    decoder = services.decoder()
    assert story.pieces == tuple(write(decoder, beginning(decoder, TEXT), read_method(*choices), 3))
    assert values["text"].count("decoder-written") == 3
    for piece in story.pieces:
        assert percent(piece.guess.probability) in values["text"]
    assert last(services, 0, TEXT, story, *choices)["story"] == Story(TEXT)
    assert last(services, 1, "Another text", story, *choices)["story"].text == "Another text"


@pytest.mark.parametrize("text", ["", " ", "<img src=x onerror=alert(1)>", "😀" * 40, "word " * 600])
def test_any_text_is_gone_on_from(services: Services, text: str) -> None:
    values = last(services, 1, text, Story(), *DRAWN)
    assert "<img" not in values["text"]
    assert len(values["story"].pieces) == 1
    assert ("no longer reads" in values["text"]) == (len(beginning(services.decoder(), text)) + 1 > WINDOW)


@pytest.mark.parametrize(
    "choices", [("sampling", 0, 0, 1, 1), ("sampling", None, 0, 1, 1), ("greedy", 1, -1, 1, 1), ("x", 1, 0, 1, "nan")]
)
def test_a_choice_out_of_bounds_is_one_sentence(choices: tuple[Any, ...]) -> None:
    with pytest.raises(UserError):
        read_method(*choices)


def test_a_text_has_an_end(services: Services) -> None:
    story = last(services, 1, TEXT, Story(), *GREEDY)["story"]
    full = Story(TEXT, story.pieces * MOST)
    with pytest.raises(UserError, match="Start over"):
        last(services, LONGEST, TEXT, full, *GREEDY)


def test_the_program_writes_the_pages_text(services: Services) -> None:
    lines = printed(writing_code(TEXT, Method(), 8))
    decoder = services.decoder()
    expected = [one.guess.token for one in write(decoder, beginning(decoder, TEXT), Method(), 8)]
    assert lines[0] == str(expected)
    drawn_line = printed(writing_code(TEXT, Method(False, Sampling(0.7, 1, 0.9), 5), 8))[0]
    assert drawn_line == str(expected)  # with top-k 1 a draw is the likeliest
