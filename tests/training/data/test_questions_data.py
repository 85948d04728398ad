"""The bundled questions: exact spans, nothing told by place or kind of answer, and no cheap guesser gets far."""

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from statistics import mean
from typing import NamedTuple

import pytest

from demos.training.tasks.question_answering.scores import normalized, score_spans
from tests.training.hand_written_data import DATA, SPLITS, frames, jaccard, stray_text, words

PATH = DATA / "questions.json"
MAX_TOPIC = 0.15  # content words of a held-out and a training paragraph, shared of all
MAX_SAME = 3  # questions and paragraphs with one four-word opening or one five-word run
KINDS = ("how", "how many", "how long", "what", "when", "where", "which", "who", "why")
QUESTION_WORDS = ("what", "which", "who", "whom", "whose", "when", "where", "why", "how")
FUNCTION = """
a about after all am an and any are as at be because been before but by can could did do does for from had has have
he her him his how i if in into is it its may might more most must my nor not of off on one or our out over she
should so some such than that the their them then there these they this those to up was we were what when where
which while who whom whose why will with would you your
"""
NUMERALS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand dozen half quarter third
once twice single first second fourth decades fortnight
"""
FUNCTION_WORDS, NUMBERS = frozenset(FUNCTION.split()), frozenset(NUMERALS.split())
SPAN = re.compile(r"\w+(?:[-.,']\w+)*")


class Question(NamedTuple):
    id: str
    split: str
    context: str
    text: str
    answers: list[str]
    starts: list[int]

    @property
    def kind(self) -> str:
        """Its question word; "how many" and "how long" count apart. "In what year" is a what."""
        found = words(self.text)
        first = next(word for word in found if word in QUESTION_WORDS)
        if first == "how" and (pair := " ".join(found[:2])) in KINDS:
            return pair
        return "who" if first in ("whom", "whose") else first


def scores(questions: list[Question], guess: Callable[[Question], str]) -> tuple[float, float]:
    """Mean exact match and mean F1, each against the answer that fits best."""
    found = score_spans([guess(q) for q in questions], [q.answers for q in questions])
    return found.exact, found.f1


def content(text: str) -> set[str]:
    """The words that carry meaning, a plural or past ending cut off."""
    return {re.sub(r"(?:'s|s|ed|ing)$", "", word) for word in words(text)} - FUNCTION_WORDS


def sentences(context: str) -> list[tuple[int, str]]:
    """Each sentence and where it starts."""
    ends = [0, *(match.end() for match in re.finditer(r"[.!?]'? ", context)), len(context)]
    return [(start, context[start:end].strip()) for start, end in pairwise(ends)]


def likest_sentence(question: Question) -> str:
    """The sentence that shares most of the question's content words; the first of equals."""
    wanted = content(question.text)
    return max((text for _, text in sentences(question.context)), key=lambda text: len(wanted & content(text)))


def sliding_window(question: Question) -> str:
    """Of all spans of 1 to 3 words without a question's or a function word at an end, the one whose 12 words on either
    side hold the most of the question's content words; of equals the nearest to them, then the shortest."""
    wanted = content(question.text)
    found = list(SPAN.finditer(question.context))
    stems = [content(match.group()) for match in found]
    hits = [i for i, stem in enumerate(stems) if stem & wanted]
    best, answer = (-1, 0.0, 0), found[0].group()
    for size in (1, 2, 3):
        for i in range(len(found) - size + 1):
            last = i + size - 1
            if not (stems[i] and stems[last]) or any(i <= hit <= last for hit in hits):
                continue
            near = [hit for hit in hits if i - 12 <= hit <= last + 12]
            held = set().union(*(stems[hit] & wanted for hit in near))
            far = mean([min(abs(hit - i), abs(hit - last)) for hit in near]) if near else 12.0
            if (rank := (len(held), -far, -size)) > best:
                best, answer = rank, question.context[found[i].start() : found[last].end()]
    return answer


def is_number(word: str) -> bool:
    """Digits, or a word for a number or a part."""
    return any(part in NUMBERS or part[0].isdigit() for part in word.lower().split("-"))


def names(text: str, inside: bool = True) -> list[str]:
    """The runs of capitalised words; of a whole sentence, not its own first word."""
    skip = r"(?<!^)" if inside else ""
    return re.findall(rf"{skip}\b(?!I\b)[A-Z]\w*(?: [A-Z]\w*)*", text)


def numbers(text: str) -> list[str]:
    return [match.group() for match in SPAN.finditer(text) if is_number(match.group())]


def by_kind(question: Question) -> str:
    """In the likest sentence: the first number for a when or a how, the first name for a who or a where; else the
    whole of it."""
    text = likest_sentence(question)
    if question.kind in ("when", "how many", "how long", "how"):
        return next(iter(numbers(text)), text)
    if question.kind in ("who", "where"):
        return next(iter(names(text)), text)
    return text


BASELINES: dict[str, Callable[[Question], str]] = {
    "the sentence with most of its words": likest_sentence,
    "sliding window": sliding_window,
    "first number or name in that sentence": by_kind,
}


@pytest.fixture(scope="module")
def articles() -> list[dict]:
    return json.loads(PATH.read_text(encoding="utf-8"))["data"]


@pytest.fixture(scope="module")
def contexts(articles: list[dict]) -> dict[str, str]:
    """Each paragraph and its split."""
    return {p["context"]: article["split"] for article in articles for p in article["paragraphs"]}


@pytest.fixture(scope="module")
def questions(articles: list[dict]) -> list[Question]:
    return [
        Question(
            *(qa["id"], article["split"], paragraph["context"], qa["question"]),
            *([answer[key] for answer in qa["answers"]] for key in ("text", "answer_start")),
        )
        for article in articles
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]


def of_split(questions: list[Question], split: str) -> list[Question]:
    return [q for q in questions if q.split == split]


def test_has_the_form_of_squad_and_reads_well_in_a_diff(articles: list[dict], questions: list[Question]) -> None:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    assert sum('"question":' in line for line in lines) == len(questions)  # one question a line
    whole = json.loads("".join(lines))
    assert set(whole) == {"version", "data"}
    assert whole["version"] == "1.1"
    for article in articles:
        assert set(article) == {"title", "split", "paragraphs"}
        assert article["split"] in SPLITS
        for paragraph in article["paragraphs"]:
            assert set(paragraph) == {"context", "qas"}
            for qa in paragraph["qas"]:
                assert set(qa) == {"id", "question", "answers"}
                assert all(set(answer) == {"text", "answer_start"} for answer in qa["answers"])


def test_sizes(articles: list[dict], contexts: dict[str, str], questions: list[Question]) -> None:
    assert len(questions) >= 220
    assert len(contexts) >= 48
    assert all(4 <= len(p["qas"]) <= 6 for article in articles for p in article["paragraphs"])
    shares = Counter(contexts.values())
    assert [shares[split] / len(contexts) for split in SPLITS] == pytest.approx([0.7, 0.1, 0.2], abs=0.01)


def test_texts_are_plain_and_varied(articles: list[dict], contexts: dict[str, str], questions: list[Question]) -> None:
    texts = [*contexts, *(q.text for q in questions), *(article["title"] for article in articles)]
    assert [text for text in texts if stray_text(text)] == []
    assert frames(texts, MAX_SAME) == {}
    assert all(q.text.endswith("?") and q.text[0].isupper() for q in questions)


def test_answers_stand_where_they_are_said_to(questions: list[Question]) -> None:
    for q in questions:
        assert 1 <= len(q.answers) <= (1 if q.split == "train" else 3), q.id
        assert len(set(zip(q.answers, q.starts, strict=True))) == len(q.answers), q.id
        for text, start in zip(q.answers, q.starts, strict=True):
            end = start + len(text)
            assert q.context[start:end] == text, q.id
            assert not re.match(r"\w", q.context[end : end + 1]), f"{q.id}: ends inside a word"
            assert not re.match(r"\w", q.context[max(0, start - 1) : start]), f"{q.id}: starts inside a word"
            assert 1 <= len(text.split()) <= 8, q.id


def test_nothing_twice(articles: list[dict], contexts: dict[str, str], questions: list[Question]) -> None:
    ids, titles = [q.id for q in questions], [article["title"] for article in articles]
    assert len(set(ids)) == len(ids)
    assert len(set(titles)) == len(titles)
    assert len(contexts) == len(articles)  # one paragraph an article: no paragraph, and no topic, in two splits


def test_no_held_out_paragraph_is_about_what_a_training_paragraph_is_about(contexts: dict[str, str]) -> None:
    bags = [(frozenset(content(text)), split) for text, split in contexts.items()]
    train, held_out = [[bag for bag, split in bags if (split == "train") is wanted] for wanted in (True, False)]
    assert max(jaccard(a, b) for a in held_out for b in train) < MAX_TOPIC


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_every_kind_of_question_and_answers_all_over_the_paragraph(
    questions: list[Question], split: str
) -> None:
    counts = Counter(q.kind for q in of_split(questions, split))
    assert set(counts) == set(KINDS)
    assert max(counts.values()) <= 0.27 * counts.total()
    middles = [(q.starts[0] + len(q.answers[0]) / 2) / len(q.context) for q in of_split(questions, split)]
    thirds = Counter(int(3 * middle) for middle in middles)
    assert min(thirds[i] for i in range(3)) >= 0.22 * len(middles), thirds
    assert 0.4 <= mean(middles) <= 0.6


def test_questions_of_a_paragraph_are_not_in_the_order_of_its_answers(questions: list[Question]) -> None:
    steps = [later.starts[0] > q.starts[0] for q, later in pairwise(questions) if q.context == later.context]
    assert mean(steps) < 0.8


def test_no_question_holds_its_answer(questions: list[Question]) -> None:
    assert [q.id for q in questions for a in q.answers if f" {normalized(a)} " in f" {normalized(q.text)} "] == []


def test_the_kind_of_answer_alone_is_no_guide(questions: list[Question]) -> None:
    """Where a number or a name is asked for, the paragraph nearly always holds another one."""
    for find in (numbers, lambda text: names(text, inside=False)):
        asked = [q for q in questions if find(q.answers[0])]
        others = [len(set(find(q.context)) - set(find(q.answers[0]))) for q in asked]
        assert len(asked) >= 60
        assert mean(n >= 1 for n in others) >= 0.95
        assert mean(others) >= 3


def shared(question: Question) -> float:
    """The share of the question's content words that stand in the sentence of its answer."""
    text = [text for start, text in sentences(question.context) if start <= question.starts[0]][-1]
    wanted = content(question.text)
    return len(wanted & content(text)) / max(1, len(wanted))


def test_questions_are_worded_otherwise_than_the_paragraph(questions: list[Question]) -> None:
    overlaps = [shared(q) for q in questions]
    assert mean(overlaps) < 0.45
    assert mean(overlap == 0 for overlap in overlaps) > 0.25


def test_cheap_guessers_fail(questions: list[Question]) -> None:
    for name, guess in BASELINES.items():
        exact, f1 = scores(of_split(questions, "test"), guess)
        assert exact < 0.12, name
        assert f1 < 0.25, name


def test_datasheet_tells_what_the_file_holds(contexts: dict[str, str], questions: list[Question]) -> None:
    sheet = PATH.with_suffix(".md").read_text(encoding="utf-8")
    flowing = " ".join(sheet.split())
    table = {
        row[0]: [int(cell) for cell in row[1:]]
        for row in re.findall(r"^\| ([a-z ]+?) +\|" + r" +(\d+) \|" * 4 + "$", sheet, re.MULTILINE)
    }
    paragraphs, asked = Counter(contexts.values()), Counter(q.split for q in questions)
    kinds = Counter((q.split, q.kind) for q in questions)
    spans = Counter(q.split for q in questions for _ in q.answers)
    for name, cells in table.items():
        counts = {"paragraphs": paragraphs, "questions": asked, "answers": spans}.get(name)
        told = [counts[split] if counts else kinds[split, name] for split in SPLITS]
        assert cells == [*told, sum(told)], (name, told)
    assert {"paragraphs", "questions", "answers", *KINDS} == set(table)
    test = of_split(questions, "test")
    told_scores = re.findall(r"^\| ([a-z ]+?) +\| (0\.\d\d) \| (0\.\d\d) \|$", sheet, re.MULTILINE)
    assert [name for name, _, _ in told_scores] == list(BASELINES)
    for name, exact, f1 in told_scores:
        assert (exact, f1) == tuple(f"{score:.2f}" for score in scores(test, BASELINES[name])), name
    hits = mean(q.answers[0] in likest_sentence(q) for q in test)
    assert f"the answer is in that sentence in {100 * hits:.0f} % of the cases" in flowing
    assert f"{len(questions)} questions on {len(contexts)} short paragraphs" in flowing
    lengths = sorted(len(q.answers[0].split()) for q in questions)
    assert f"1 to {lengths[-1]} words, {lengths[len(lengths) // 2]} in the middle" in flowing
    spread = sorted(len(context.split()) for context in contexts)
    assert f"{spread[0]} to {spread[-1]} words" in flowing
    overlaps = [shared(q) for q in questions]
    assert f"{100 * mean(overlaps):.0f} % of a question's content words" in flowing
    assert f"and in {100 * mean(overlap == 0 for overlap in overlaps):.0f} % of the questions none does" in flowing
