"""The part that searches and draws: what it shows is what was computed, and a beam finds what greedy misses."""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
import torch

from demos.bert.decoding.beam import KEPT
from demos.bert.decoding.sampling import Sampling
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.bert.translation.bundled import bundled
from demos.bert.translation.decoding import translate
from demos.bert.translation.grammar import held_out
from demos.bert.translation.searching import Continuations, drawn_words, greedy, missed, search, words_of
from demos.bert.translation.vocabulary import padded, shifted
from demos.lessons.translation.search.figure import search_code
from demos.lessons.translation.search.part import Searching, offered
from demos.lessons.translation.wiring import text_of
from demos.page.questions import questions
from demos.page.services import Sentence, Services
from demos.page.view import On
from demos.widgets.search_tree.figure import tree_figure
from tests.shown_values import shown_values

EMPTY, SERVICES = Sentence("", "", ""), Services(ModelStore(), BUNDLED)
KINDS = ("none", "additive", "transformer")


def log_probability(kind: str, source: tuple[str, ...], target: tuple[str, ...]) -> float:
    """Of a whole translation at once, the right words given."""
    trained = bundled(kind)
    given, wanted = shifted([target], trained.target)
    logits = trained.model(padded([source], trained.source), given).clone()
    logits[..., :2] = -torch.inf
    return float(logits.log_softmax(-1)[0].gather(-1, wanted[0][:, None]).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_a_beam_of_one_writes_what_the_lesson_translates(kind: str) -> None:
    trained = bundled(kind)
    for pair in held_out()[:5]:
        assert words_of(trained, greedy(trained, pair.source)) == translate(trained, [pair.source])[0]
        best = search(trained, pair.source, 3, 1.0).finished[0]
        words = words_of(trained, best)
        assert best.log_probability == pytest.approx(log_probability(kind, pair.source, words), abs=1e-3)
        assert best.score == pytest.approx(best.log_probability / len(best.tokens))


def test_greedy_misses_what_a_beam_finds() -> None:
    found = missed("none", 4)
    assert len(found) >= 10
    for pair in found:
        (first,) = translate(bundled("none"), [pair.source])
        assert first != pair.target
        right, wrong = (log_probability("none", pair.source, words) for words in (pair.target, first))
        assert right > wrong


def test_the_tree_and_both_translations_are_shown() -> None:
    pair = missed("none", 4)[0]
    trained = bundled("none")
    shown = shown_values(Searching().shown(SERVICES, EMPTY, search_english=text_of(pair), search_steps=99))
    assert "The beam's translation is likelier" in shown["found"]
    steps = shown["search_steps"]
    assert steps["value"] == steps["maximum"] == len(search(trained, pair.source, 4, 0.0).steps)
    goes_on = next(trace for trace in shown["tree"].data if trace.name == "goes on")
    result = search(trained, pair.source, 4, 0.0)
    kept = [
        trained.target.words[one.hypothesis.tokens[-1]] for step in result.steps for one in step if one.fate == KEPT
    ]
    assert list(goes_on.text) == kept
    assert max(tree_figure(result, trained.target.words.__getitem__, 3)["data"][2]["y"]) == 3
    answer = questions()["translation", "search"].compute
    assert answer is not None
    assert answer(None, EMPTY).facts == {"width": 4, "found": len(missed("none", 4))}  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "penalty"), [("none", 0.0), ("additive", 1.5), ("transformer", 1.0)])
def test_the_program_finds_the_same(kind: str, penalty: float) -> None:
    printed, pair = StringIO(), missed("none", 4)[0]
    with redirect_stdout(printed):
        exec(search_code(kind, pair.source, 4, penalty), {})
    best = search(bundled(kind), pair.source, 4, penalty).finished[0]
    number, *words = printed.getvalue().splitlines()[0].split()
    assert tuple(words) == words_of(bundled(kind), best)
    assert float(number) == pytest.approx(best.log_probability, abs=1e-3)


def test_what_is_drawn_by_chance() -> None:
    trained, source = bundled("additive"), held_out()[1].source
    (cold,) = drawn_words(Continuations(trained, source), Sampling(0.05), [1])
    assert tuple(one.token for one in cold) == greedy(trained, source).tokens
    chosen = {"search_english": " ".join(source), "search_translator": "additive", "temperature": 1.5, "top_k": 3}
    shown = shown_values(Searching().shown(SERVICES, EMPTY, **chosen, drawn_seed=7))
    assert "seed 11" in shown["drawn"]
    model, drawn = (np.array(bar.x, float) for bar in shown["bars"].data)
    assert (drawn > 0).sum() == 3
    assert drawn.sum() == pytest.approx(1, abs=1e-3)
    assert list(model) == sorted(model, reverse=True)
    logits = Continuations(trained, source)([(3,), (4,)])
    assert logits.shape == (2, len(trained.target))
    assert (logits[:, :2] == -torch.inf).all()


def test_it_opens_on_a_sentence_of_its_menu() -> None:
    c = Searching().read(On(SERVICES, EMPTY), {})
    assert c.search_english == text_of(offered()[-1])


def test_what_is_not_on_offer_is_what_the_part_begins_with() -> None:
    c = Searching().read(On(SERVICES, EMPTY), {"search_translator": "lstm", "width": None, "drawn_seed": -5})
    assert (c.search_translator, c.width, c.drawn_seed) == ("none", 4, 0)
