"""A decoder that writes: what is shown is what the decoder computes, for any text and any choice."""

import math
from typing import Any

import pytest
from markupsafe import Markup

from demos.bert.causal.beams import search
from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.measured import measured
from demos.bert.causal.writing import MOST, Method, beginning, next_word, write
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.figures.numbers import percent
from demos.lessons.family.decoder import beams
from demos.lessons.family.decoder.figure import search_code, writing_code
from demos.lessons.family.decoder.part import LONGEST, Story, Writing, answer, written
from demos.page.services import Sentence, Services
from demos.page.view import On, Shown
from tests.one_line import one_line
from tests.programs import printed
from tests.shown_values import shown_values

TEXT = "He opened the door and"
GREEDY = {"method": "greedy"}
SAMPLING = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "writing_seed": 3}
DRAWN = {"method": "sampling", **SAMPLING}


def last(services: Services, count: int, text: str, story: Story, **choices: Any) -> Shown:
    on = On(services, Sentence(text, "", "minilm"))
    *_, values = written(count, on, Writing().read(on, {"story": story, **choices}))
    return values


def view(services: Services, text: str = TEXT, **choices: Any) -> Shown:
    return shown_values(Writing().shown(services, Sentence(text, "", "minilm"), **choices))


def method(**choices: Any) -> Method:
    return Writing().read(None, choices).chosen_by()  # type: ignore[arg-type]


def test_the_bars_are_the_decoders_distribution(services: Services) -> None:
    decoder = services.decoder()
    values = view(services, **GREEDY)
    found = next_word(decoder, beginning(decoder, TEXT), Method(), 12)
    for one in found.best:
        assert percent(one.guess.probability) in values["next"]
    assert values["next"].count('class="rank"') == 12
    assert f"Entropy: <b>{found.entropy:.1f}</b> of at most 10.3 nats" in one_line(values["next"])
    assert f"{measured()[0].perplexity:,.0f}" in values["model"]
    assert answer(services, Sentence(TEXT, "", "minilm")).facts["piece"] == found.chosen.guess.token


def test_another_draw_at_random_repeats_no_search(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    services, asked = Services(store, "minilm"), []
    monkeypatch.setattr(beams, "search", lambda *inputs: asked.append(inputs[2:]) or search(*inputs))
    sharp, flat = (view(services, method="beam", temperature=share, width=2, length=6) for share in (0.1, 2))
    assert asked == [(2, 6), (1, 6)]
    assert sharp["numbers"] == flat["numbers"]
    assert sharp["beams"] != flat["beams"]


def test_the_beam_is_beside_the_greedy_text_and_a_random_one(services: Services) -> None:
    decoder = services.decoder()
    text = "He went to the"  # where the beam finds a likelier text than the greedy one
    values = view(services, text, method="beam", length=6, width=99, **SAMPLING)
    assert (values["searching"]["visible"], values["stepwise"]["visible"]) == (True, False)
    start, shown = beginning(decoder, text), one_line(Markup(values["beams"]).striptags()).replace("−", "-")
    assert "Beam of 5" in shown
    beams, (greedy,) = search(decoder, start, 5, 6).finished, search(decoder, start, 1, 6).finished
    assert beams[0].log_probability > greedy.log_probability
    assert len(beams) == 5
    times = math.exp(beams[0].log_probability - greedy.log_probability)
    assert f"{times:,.0f} times" in shown or f"{times:.1f} times" in shown
    for one in (greedy, *beams):
        assert f"{one.log_probability:.2f}" in shown
    drawn_pieces = list(write(decoder, start, method(**DRAWN), 6))
    assert f"{sum(math.log(one.guess.probability) for one in drawn_pieces):.2f}" in shown
    goes_on = next(trace for trace in values["tree"].data if trace.name == "goes on")
    assert len(goes_on.x) == 5 * 6
    assert [trace.name for trace in values["tree"].data if trace.name] == ["goes on", "dropped"]
    assert values["program"] == search_code(text, 5, 6)


@pytest.mark.slow
def test_the_program_searches_as_the_page_does(services: Services) -> None:
    decoder = services.decoder()
    found = search(decoder, beginning(decoder, TEXT), 3, 5).finished
    lines = printed(search_code(TEXT, 3, 5))
    assert [line.split(" ", 1)[1] for line in lines] == [decoder.tokenizer.decode(one.tokens) for one in found]
    assert [float(line.split()[0]) for line in lines] == pytest.approx([one.log_probability for one in found], abs=0.02)


@pytest.mark.parametrize("choices", [GREEDY, DRAWN])
def test_one_by_one_and_all_at_once_write_the_same(services: Services, choices: dict[str, Any]) -> None:
    story = last(services, 3, TEXT, Story(), **choices)["story"]
    single = Story()
    for _ in range(3):
        values = last(services, 1, TEXT, single, **choices)
        single = values["story"]
    assert single == story
    decoder = services.decoder()
    assert story.pieces == tuple(write(decoder, beginning(decoder, TEXT), method(**choices), 3))
    assert values["text"].count("decoder-written") == 3
    for piece in story.pieces:
        assert percent(piece.guess.probability) in values["text"]
    anew = last(services, 0, TEXT, story, **choices)["story"]
    assert (anew, bool(anew), bool(story)) == (Story(TEXT), False, True)
    assert last(services, 1, "Another text", story, **choices)["story"].text == "Another text"


@pytest.mark.parametrize("text", ["", " ", "<img src=x onerror=alert(1)>", "😀" * 40, "word " * 600])
def test_any_text_is_gone_on_from(services: Services, text: str) -> None:
    values = last(services, 1, text, Story(), **DRAWN)
    assert "<img" not in values["text"]
    assert len(values["story"].pieces) == 1
    assert ("no longer part of its input" in values["text"]) == (len(beginning(services.decoder(), text)) + 1 > WINDOW)


def test_a_text_has_an_end(services: Services) -> None:
    story = last(services, 1, TEXT, Story(), **GREEDY)["story"]
    full = Story(TEXT, story.pieces * MOST)
    with pytest.raises(UserError, match="Start over"):
        last(services, LONGEST, TEXT, full, **GREEDY)


@pytest.mark.slow
def test_the_program_writes_the_pages_text(services: Services) -> None:
    lines = printed(writing_code(TEXT, Method(), 8))
    decoder = services.decoder()
    expected = [one.guess.token for one in write(decoder, beginning(decoder, TEXT), Method(), 8)]
    assert lines[0] == str(expected)
    drawn_line = printed(writing_code(TEXT, Method(False, Sampling(0.7, 1, 0.9), 5), 8))[0]
    assert drawn_line == str(expected)  # with top-k 1 a draw is the likeliest
