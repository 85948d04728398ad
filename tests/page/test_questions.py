"""Question cards: what is told of an answer, what a browser may send, and that every part has a question."""

import json
import re
from collections import Counter
from html import unescape
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons import discover
from demos.page.lesson import Lesson
from demos.page.questions import Answer, Choice, Question, questions
from demos.page.questions.cards import build_cards, cards_html, read_message
from demos.page.questions.question_file import LESSONS
from demos.page.questions.reveal import number_text, reveal, token_positions, truths, word_of
from demos.page.room.votes import new_vote
from demos.page.services import Sentence, Services
from tests.page.empty_page import empty_page
from tests.page.tiny_store import TinyStore
from tests.test_words import GRADE, MOST_WORDS, grade, sentences_of

LONGER = 1.3  # the longest distractor times this bounds the length of a right answer
HOSTILE = '<img src=x onerror="alert(1)"> ${alert(1)} {text}'
CHOICES = (
    Choice("one", "One of {words}", "<p>Because of {said}.</p>"),
    Choice("two", "Two", "<p>No: {share:.0%}.</p>"),
)


@pytest.fixture(scope="module")
def services(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Services:
    return Services(TinyStore.written(tiny, tmp_path_factory.mktemp("tiny")), "tiny")


def asked(kind: str, answer: Answer, **named: Any) -> Question:
    options = {"text": "<p>Which?</p>", "answers": CHOICES, "revealed": "<p>{said}</p>"} | named
    return Question(lesson="attention", part="heads", kind=kind, compute=lambda *_: answer, **options)


FACTS = {"said": HOSTILE, "share": 0.256}
SENTENCE = Sentence("the cat sat.", "", "")


def test_every_part_has_a_question_and_nothing_else_has_one() -> None:
    places = {(lesson.slug, part.slug) for lesson in discover() for part in lesson.parts}
    places |= {(lesson.slug, "") for lesson in discover() if not lesson.parts}
    assert set(questions()) == places


def test_their_sentences_are_short() -> None:
    sentences = []
    for path in LESSONS.rglob("question.md"):
        _, _, text = path.read_text(encoding="utf-8").split("---", 2)
        sentences += sentences_of(re.sub(r"^## (\w+: )?", "\n\n", re.sub(r"[`{][^`}]*[`}]", " ", text), flags=re.M))
    assert [sentence for sentence in sentences if len(sentence) > MOST_WORDS] == []
    assert grade(sentences) < GRADE


def in_words(html: str) -> str:
    """A text as the page shows it; a value that is filled in is as long as its name."""
    return unescape(re.sub(r"<[^>]+>", "", html).replace("{", "").replace("}", ""))


CHOSEN = [question for question in questions().values() if question.kind == "choice"]


def lengths(question: Question) -> dict[str, int]:
    return {answer.name: len(in_words(answer.text)) for answer in question.answers}


@pytest.mark.parametrize("question", CHOSEN, ids=lambda question: question.name)
def test_no_answer_that_may_be_right_stands_out_by_its_length(question: Question) -> None:
    sizes = lengths(question)
    for name in [question.right] if question.right else sizes:
        assert sizes[name] <= LONGER * max(size for other, size in sizes.items() if other != name), sizes


def test_the_right_answers_are_at_all_places_and_of_all_lengths() -> None:
    """Of those that no sentence changes: no place, and no length, is right much more often than by chance."""
    fixed = [question for question in CHOSEN if question.right]
    by_chance = sum(1 / len(question.answers) for question in fixed)
    places = Counter([answer.name for answer in question.answers].index(question.right) for question in fixed)
    assert all(by_chance / 2 < places[place] < by_chance * 1.5 for place in range(3)), places
    assert places[3] >= by_chance / 2
    for most in (max, min):
        standing_out = [one.name for one in fixed if lengths(one)[one.right] == most(lengths(one).values())]
        assert len(standing_out) < by_chance * 1.5, standing_out


def test_all_and_none_come_last() -> None:
    """Where the answers are mixed; in a scale, they have their place."""
    for question in CHOSEN:
        names = [answer.name for answer in question.answers]
        last = {"none", "never", "neither", "both"} & {*names}
        if "order: kept" not in (LESSONS / question.name / "question.md").read_text(encoding="utf-8"):
            assert {*names[len(names) - len(last) :]} == last, question.name


LOOKS = {(lesson.slug, part.slug): part.look for lesson in discover() for part in lesson.parts}
LOOKS |= {(lesson.slug, ""): lesson.look for lesson in discover()}
SAID_BEFORE = [  # what a look, of the part or of its lesson, has said of its question's answer
    ("attention/rollout", r"\[SEP\]"),
    ("embeddings/anisotropy", "above 0|often do not"),
    ("embeddings/siamese", "same encoder"),
    ("encoder/masks", "states of all|stay the same"),
    ("encoder/norms", "affect|during training"),
    ("family/decoder", "up to it"),
    ("family/elmo", "one side"),
    ("family/last_word", "all tokens|from the new word"),
    ("family/prompts", "nothing is trained"),
    ("finetune/ready", r"\bMB\b|0\.7"),
    ("finetune/runs", "chance"),
    ("pretraining/original_run", "added|sum"),
    ("pretraining/spans", "several"),
    ("tokens", "pieces?"),
    ("translation/decoding", "adjective|diagonal"),
    ("translation/distance", "but not"),
    ("translation/recurrent", "“were”|“was”"),
    ("translation/search", "not the likeliest|is lost"),
    ("translation/targets", "ln p"),
    ("translation/transformer", "cross-attention"),
]


def decisive(question: Question, answer: Choice) -> set[str]:
    """The words and numbers by which an answer differs from the question and from all other answers."""

    def words(html: str) -> set[str]:
        return set(re.findall(r"\d+(?:[.,]\d+)*|[^\W\d]{4,}(?:-\w+)*", in_words(html).lower()))

    others = [other.text for other in question.answers if other is not answer]
    return words(answer.text).difference(words(question.text), *map(words, others))


def gives_away(look: str, question: Question) -> list[str]:
    """The answers that may be right and that a look has word for word, or with all their decisive words."""
    shown = in_words(look).lower()
    may_be_right = [answer for answer in question.answers if question.right in ("", answer.name)]
    return [
        answer.name
        for answer in may_be_right
        if in_words(answer.text).lower() in shown
        or (
            (words := decisive(question, answer)) and all(re.search(rf"\b{re.escape(word)}\b", shown) for word in words)
        )
    ]


@pytest.mark.parametrize("question", CHOSEN, ids=lambda question: question.name)
def test_no_look_has_the_words_of_a_right_answer(question: Question) -> None:
    assert gives_away(LOOKS[question.lesson, question.part], question) == []


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("pretraining/spans", "A “sentence” is a span of text, usually several sentences long."),
        ("pretraining/original_run", "Each step took a batch of sequences and added two losses."),
        ("translation/transformer", "Every decoder layer's cross-attention uses the output of the encoder."),
        ("translation/targets", "This position costs −ln 0.5, about 0.69."),
    ],
)
def test_a_look_that_answers_is_noticed(name: str, look: str) -> None:
    (question,) = (question for question in CHOSEN if question.name == name)
    assert gives_away(look, question) == [question.right]


def test_no_look_has_the_number_that_is_right(services: Services) -> None:
    numbers = [question for question in questions().values() if question.kind == "number"]
    for question in numbers:
        for said in re.findall(r"\d+(?:\.\d+)?", LOOKS[question.lesson, question.part].replace(",", "")):
            assert reveal(services, SENTENCE, question, said)["right"] is False, f"{question.name}: {said}"


@pytest.mark.parametrize(("name", "said"), SAID_BEFORE, ids=[name for name, _ in SAID_BEFORE])
def test_no_look_says_again_what_it_said_of_the_answer(name: str, said: str) -> None:
    lesson, _, part = name.partition("/")
    assert (lesson, part) in questions()
    assert re.findall(said, f"{LOOKS[lesson, '']} {LOOKS[lesson, part]}") == []


def test_a_number_has_a_tolerance() -> None:
    numbers = [question for question in questions().values() if question.kind == "number"]
    assert len(numbers) >= 3
    assert all(question.within > 0 for question in numbers)


def test_each_choice_can_be_put_to_a_room() -> None:
    for question in CHOSEN:
        vote = new_vote(1, in_words(question.text), [in_words(answer.text) for answer in question.answers])
        assert len(vote.answers) == len(question.answers)


def test_a_choice_is_told_with_why_and_hostile_facts_stay_text(services: Services) -> None:
    question = asked("choice", Answer(keys=frozenset({"two"}), facts=FACTS))
    wrong = reveal(services, SENTENCE, question, "one")
    assert (wrong["right"], wrong["said"]) == (False, "One of")
    assert "Not correct" in wrong["html"]
    assert "<dt>Correct</dt><dd>Two</dd>" in wrong["html"]
    assert "<img" not in wrong["html"]
    assert "No: 26%." in wrong["html"]
    assert '<span data-fill="words"></span>' in wrong["html"]
    assert reveal(services, SENTENCE, question, "two")["right"] is True
    assert wrong["keys"] == ["two"]
    waived = reveal(services, SENTENCE, question, "")
    assert (waived["right"], waived["said"]) == (None, "")
    with pytest.raises(UserError, match="can't be read"):
        reveal(services, SENTENCE, question, "three")


def test_a_fixed_answer_needs_no_computation(services: Services) -> None:
    question = Question("tokens", "", "choice", "<p>Which?</p>", CHOICES[1:], "<p>Two.</p>", right="two")
    question = Question(**{**vars(question), "answers": (Choice("two", "Two", "<p>Yes.</p>"),)})
    assert reveal(services, Sentence("", "", ""), question, "two")["right"] is True


def test_a_number_is_right_within_its_bounds(services: Services) -> None:
    answer = Answer(number=12.5, facts=FACTS, mistakes={"one": 6912})
    exactly = asked("number", answer, unit="MB")
    nearly = asked("number", answer, within=0.1, within_share=True)
    assert [reveal(services, SENTENCE, exactly, said)["right"] for said in ("12.5", "12.6")] == [True, False]
    assert [reveal(services, SENTENCE, nearly, said)["right"] for said in ("11.25", "13.75", "13.8")] == [
        True,
        True,
        False,
    ]
    html = reveal(services, SENTENCE, exactly, "6912")["html"]
    assert "<dd>6,912 MB</dd>" in html
    assert "<dd>12.5 MB</dd>" in html
    assert "(6,912)" in html
    for said in ("nan", "inf", "twelve", "1" * 41):
        with pytest.raises(UserError, match="can't be read"):
            reveal(services, SENTENCE, exactly, said)
    assert [number_text(one) for one in (18, 6912, 90.852864, 0.693147)] == ["18", "6,912", "90.85", "0.6931"]


def test_a_click_on_a_word_means_its_tokens(services: Services) -> None:
    text, pair = "😀 the cat", "the cat"
    encoding = services.run(Sentence(text, pair, "")).encoding
    spans = [(encoding.sequence_ids[at], encoding.offsets[at]) for at in token_positions(encoding, "0:6:9")]
    assert spans
    assert all(of == 0 and 6 <= start < end <= 9 for of, (start, end) in spans)
    (first, *_) = sorted(token_positions(encoding, "1:0:3"))
    assert word_of(encoding, first) == "the"
    assert token_positions(encoding, "cls") == {0}
    assert token_positions(encoding, "sep") == {encoding.tokens.index("[SEP]"), len(encoding) - 1}
    typed = services.run(Sentence("a [SEP] b [CLS]", "[SEP] c", "")).encoding
    assert typed.tokens == ("[CLS]", "a", "[SEP]", "b", "[CLS]", "[SEP]", "[SEP]", "c", "[SEP]")
    assert token_positions(typed, "0:2:7") == {2}
    assert token_positions(typed, "cls") == {0}
    assert token_positions(typed, "sep") == {2, 5, 6, 8}
    for said in ("0:1", "0:a:b", "9999999:0:1", "word", "0:-1:2"):
        with pytest.raises(UserError, match="can't be read"):
            token_positions(encoding, said)
    question = asked("token", Answer(tokens=frozenset({0}), facts=FACTS))
    assert truths(question, Answer(tokens=frozenset({0, first})), encoding) == ["[CLS]", "the"]
    assert reveal(services, Sentence(text, pair, ""), question, "cls")["right"] is True


def test_without_a_sentence_nothing_is_computed(services: Services) -> None:
    with pytest.raises(UserError, match="Type a sentence first"):
        reveal(services, Sentence(" ", "", ""), asked("choice", Answer(keys=frozenset({"one"}))), "one")


@pytest.mark.parametrize(
    "said", ["", "[]", "[1, 2]", '["heads"]', '["heads", 1]', "{}", "null", "x" * 201, '["a", "b", "c"]']
)
def test_what_a_browser_may_send(said: str) -> None:
    assert read_message('["heads", "one"]') == ("heads", "one")
    with pytest.raises(UserError, match="can't be read"):
        read_message(said)


def test_cards_hold_no_answer_and_wiring_names_what_is_missing(services: Services) -> None:
    lesson = Lesson("tokens", 0, "Tokens", "?", "Look.")
    with gr.Blocks():
        page = empty_page(services, lesson)
        question = questions()["tokens", ""]
        html = cards_html(page, {"": question})
        assert question.answers[0].text in html
        assert not any(one.why in html for one in question.answers)
        assert 'data-part=""' in html
        build_cards(page)
        page.lesson = Lesson("encoder", 0, "Encoder", "?", "Look.")
        with pytest.raises(UserError, match="none of its choices"):
            build_cards(page)
    assert json.loads(json.dumps(html)) == html
