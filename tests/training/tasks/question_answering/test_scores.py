"""SQuAD's scores against an independent reading of them: torchmetrics' SQuAD, on real and on random texts."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.text import squad
from torchmetrics.functional.text.squad import _normalize_text

from demos.training.sources import SOURCES
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.scores import exact_match, guess, normalized, score_spans, token_f1

WORDS = st.sampled_from(["the", "a", "An", "anchor", "Anchor", "1788", "1,788", "co-op", "of", "—", "’s", "ß", "THE,"])
TEXTS = st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=6).map(" ".join))


def theirs(guesses: list[str], answers: list[list[str]]) -> tuple[float, float]:
    """(exact match, F1) as shares."""
    predicted: list[Any] = [{"prediction_text": guess, "id": str(at)} for at, guess in enumerate(guesses)]
    wanted: list[Any] = [
        {"answers": {"answer_start": [0] * len(texts), "text": texts}, "id": str(at)}
        for at, texts in enumerate(answers)
    ]
    found = squad(predicted, wanted)
    return float(found["exact_match"]) / 100, float(found["f1"]) / 100


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_any_texts_score_as_theirs(guess: str, answers: list[str]) -> None:
    assert [normalized(text) for text in (guess, *answers)] == [_normalize_text(text) for text in (guess, *answers)]
    exact, f1 = theirs([guess], [answers])
    assert float(exact_match(guess, answers)) == pytest.approx(exact)
    assert token_f1(guess, answers) == pytest.approx(f1, abs=1e-6)
    assert token_f1(guess, answers) >= exact_match(guess, answers)


def test_means_over_real_questions_are_theirs() -> None:
    """Guesses of every quality: an answer, with a word more, a word less, another question's."""
    test = SOURCES["questions"].load(0, 1_500).test
    ways = (
        lambda text: text,
        lambda text: f"in {text}",
        lambda text: text.split()[-1],
        lambda text: test[0].answers[0],
    )
    guesses = [ways[at % 4](one.answers[-1]) for at, one in enumerate(test)]
    answers = [list(one.answers) for one in test]
    found = score_spans(guesses, answers)
    assert (found.exact, found.f1) == pytest.approx(theirs(guesses, answers), abs=1e-5)
    assert 0.2 < found.exact < found.f1 < 1
    assert found.count == len(test)
    assert score_spans([], []).exact == 0


def test_the_paper_s_rules_one_by_one() -> None:
    assert normalized("The  Wool-Merchant, a.k.a. “Kettle”!") == "woolmerchant aka “kettle”"
    assert exact_match("the old factory.", ["Old factory", "mill"])
    assert not exact_match("two", [])
    assert token_f1("old glove factory", ["glove factory", "old"]) == pytest.approx(0.8)
    assert token_f1("the", ["a"]) == 1  # nothing is left of either
    assert token_f1("the", ["three"]) == 0


def test_a_paragraph_of_dots_takes_no_time() -> None:
    begun = time.thread_time()
    assert guess(QuestionExample("Who?", "a" + "." * 60_000 + "b")).startswith("a..")
    assert time.thread_time() - begun < 10  # 0.05 s; a square of it takes 40
    assert guess(QuestionExample("Who came?", "He left... Then Ann came! (So?)")) == "Then Ann"
