"""Questions from every form of file, good and broken; splits and folds that share no paragraph; the try-it box."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.data import hub_data
from demos.training.data.columns.mapping import find
from demos.training.data.file_tables import read_table
from demos.training.data.splits import same
from demos.training.data.tables import Record, records_of
from demos.training.sources import SOURCES, load_file, load_hub
from demos.training.tasks.question_answering.data import (
    QuestionDataset,
    QuestionExample,
    build_questions,
    example_of,
)
from demos.training.tasks.question_answering.files import QUESTION_COLUMNS, question_rows, read_questions
from demos.training.tasks.question_answering.scores import guess
from tests.benchmarks._question_folds import folds_of

CONTEXT = "Ann kept bees. Later, in 1907, Ann sold the bees to Bo, a baker."
ASKED = [
    ("Who bought them?", "Bo, a baker", 52),
    ("When were they sold?", "1907", 25),
    ("Who kept them?", "Ann", 0),
    ("Who sold them?", "Ann", 31),
]


def squad(paragraphs: list[tuple[str, list[dict[str, Any]]]], **more: Any) -> dict[str, Any]:
    return {
        "version": "1.1",
        "data": [{"title": "t", "paragraphs": [{"context": c, "qas": q}]} | more for c, q in paragraphs],
    }


QAS = [{"id": str(k), "question": q, "answers": [{"text": a, "answer_start": s}]} for k, (q, a, s) in enumerate(ASKED)]
LINES = [{"question": q, "context": CONTEXT, "answers": {"text": [a], "answer_start": [s]}} for q, a, s in ASKED]
POSSIBLE = [one | {"is_impossible": False} for one in QAS]
PLAIN = ("query", "passage", "answer", "start")
CELLS = [(q, CONTEXT, a, s) for q, a, s in ASKED]


def table(separator: str) -> str:
    quoted = [[f'"{cell}"' if separator == "," else str(cell) for cell in row] for row in CELLS]
    return "\n".join(separator.join(row) for row in (["question", "context", "answer", "answer_start"], *quoted))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("squad.json", json.dumps(squad([(CONTEXT, QAS)]))),
        ("squad2.json", "\ufeff" + json.dumps(squad([(CONTEXT, POSSIBLE)]), indent=1)),
        ("hub.jsonl", "\n".join(map(json.dumps, LINES))),
        ("lines.json", "\n".join(map(json.dumps, LINES))),
        ("list.json", json.dumps(LINES)),
        ("plain.jsonl", "\n".join(json.dumps(dict(zip(PLAIN, row, strict=True))) for row in CELLS)),
        ("objects.jsonl", "\n".join(json.dumps(one | {"context": CONTEXT}) for one in QAS)),
        ("columns.csv", table(",")),
        ("columns.tsv", table("\t")),
    ],
)  # fmt: skip
def test_every_form_says_the_same(name: str, text: str) -> None:
    rows = read_questions(text.encode(), name).rows
    assert [(row.question, row.context, row.answers, row.start) for row in (item.value for item in rows)] == [
        (question, CONTEXT, (answer,), start) for question, answer, start in ASKED
    ]


def records(rows: list[dict[str, Any]]) -> list[Record]:
    """As a file of JSON lines gives them."""
    table = read_table("\n".join(map(json.dumps, rows)).encode(), "a.jsonl")
    return records_of(find(table, QUESTION_COLUMNS), QUESTION_COLUMNS)


def test_an_answer_is_searched_for_where_no_place_is_told_or_a_wrong_one() -> None:
    def start(answer: Any, **more: Any) -> list[tuple[tuple[str, ...], int]]:
        rows = [{"question": "Who?", "context": CONTEXT, "answers": answer} | more]
        return [(row.value.answers, row.value.start) for row in question_rows(records(rows))]

    assert start("Ann") == [(("Ann",), 0)]
    assert start("Ann", answer_start="31") == [(("Ann",), 31)]
    assert start("Ann", answer_start=30) == [(("Ann",), 31)]  # the nearest
    assert start("Ann", answer_start=-1) == [(("Ann",), 0)]
    assert start("Ann", answer_start=31.0) == start("Ann", answer_start="31.0") == [(("Ann",), 31)]
    assert start(" bees ") == [(("bees",), 9)]
    assert start("LATER") == [(("Later",), 15)]  # the paragraph's own spelling
    assert start(["1907", "in 1907", "1907"]) == [(("1907", "in 1907"), 25)]
    assert start('{"text": ["Bo"], "answer_start": [52]}') == [(("Bo",), 52)]


def bad(**change: Any) -> str:
    return json.dumps(squad([(CONTEXT, [*QAS, QAS[0] | change])]))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", bad(answers=[{"text": "a sailor", "answer_start": 3}]), "Question 5 has the answer 'a sailor'"),
        ("a.json", bad(question="  "), "Question 5 has no question"),
        ("a.json", bad(question="why " * 200), "Question 5 has a question of 799 characters; the limit is 500"),
        ("a.json", json.dumps(squad([("x" * 6_001, QAS)])), "Question 1 has a paragraph of 6,001 characters"),
        ("a.json", json.dumps(squad([(" ", QAS)])), "Question 1 has no paragraph"),
        ("a.json", '{"data": [{"paragraphs": [3]}]}', "not SQuAD's JSON"),
        ("a.json", '{"data": 3}', "not SQuAD's JSON"),
        ("a.json", '{"data": []}', "The file has no questions"),
        ("a.json", '{"data": [', "not SQuAD's JSON"),
        ("a.json", '{"text": "a", "label": "b"}', "not SQuAD's JSON"),
        ("a.json", "[1, 2]", "Row 1 is not a JSON object"),
        ("a.csv", "question,context\na,b\n", "No column is named answers"),
        ("a.csv", "question,context,answer\na,b,b\na,b,\n", "Row 3 has no answer"),
        ("a.csv", "question,context,answer\na,b,c\n", "Row 2 has the answer 'c', which does not occur in"),
        ("a.csv", "question,context,answer\na,b,b\n", "The data has 1 question on 1 paragraph; at least 10 on 5"),
        ("a.csv", "question,context,answer,split\na,b,b,nowhere\n", "Row 2 has the split 'nowhere'"),
    ],
)  # fmt: skip
def test_what_is_broken_is_one_sentence(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as refused:
        load_file("question", tmp_path / name)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def many(paragraphs: int, asked: int = 4) -> list[dict[str, Any]]:
    return [
        {"question": f"What is {q}?", "context": f"Paragraph {p} has things 0 1 2 3 4 5.", "answers": f"{q}"}
        for p in range(paragraphs) for q in range(asked)
    ]  # fmt: skip


def test_squad_as_the_hub_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"id": f"{at}", "title": "t", "context": one["context"], "question": one["question"],
         "answers": {"text": [one["answers"]] * 2, "answer_start": [one["context"].rindex(one["answers"])] * 2}}
        for at, one in enumerate(many(30))
    ]  # fmt: skip
    none = rows[0] | {"question": "Why?", "answers": {"text": [], "answer_start": []}}
    hub: dict[str, Any] = {"train": [*rows[:100], none], "validation": rows[100:]}
    monkeypatch.setattr(hub_data, "reach_hub", lambda: None)
    monkeypatch.setattr(hub_data, "open_hub", lambda *_: hub)
    data: Any = load_hub("question", "me/squad-of-this-test")
    assert (data.name, len(data.test), len(data.train) + len(data.validation)) == ("me/squad-of-this-test", 20, 101)
    assert {one.question for one in data.test} == {row["question"] for row in rows[100:]}
    for one in data.test:
        assert one.answers == (one.question.split()[-1].strip("?"),)
        assert one.start == one.context.rindex(one.answers[0])
    assert data.notes[0] == "1 question without an answer in the paragraph, as in SQuAD 2.0."
    assert [one.question for one in (*data.train, *data.validation) if not one.answers] == ["Why?"]
    assert "The file has no test split, so its validation split is used for the test." in data.notes


FAIR = "🎉 Ann sells at the fair {}. 🎉 Later Ann buys, says é."


def fairs(place: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Ten questions on as many paragraphs, whose answer is the second of two; `place` says where of its paragraph."""
    return [
        {"question": "Who buys?", "context": text, "answers": "Ann", "answer_start": place(text)}
        for text in (FAIR.format(number) for number in range(10))
    ]


def as_squad(rows: list[dict[str, Any]]) -> bytes:
    stated = [{"text": row["answers"], "answer_start": row["answer_start"]} for row in rows]
    qas = [{"question": row["question"], "answers": [answer]} for row, answer in zip(rows, stated, strict=True)]
    return json.dumps(squad([(row["context"], [qa]) for row, qa in zip(rows, qas, strict=True)])).encode()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join([",".join(rows[0]), *(",".join(f'"{cell}"' for cell in row.values()) for row in rows)]).encode()


@pytest.mark.parametrize(("name", "file"), [("a.json", as_squad), ("a.csv", as_csv)])
@pytest.mark.parametrize(
    ("place", "note"),
    [
        (lambda text: text.rindex("Ann"), None),
        (
            lambda text: len(text[: text.rindex("Ann")].encode("utf-16-le")) // 2,
            "The answers’ positions count UTF-16 units, as a browser does; 10 of 10 were converted.",
        ),
        (
            lambda text: len(text[: text.rindex("Ann")].encode()),
            "The answers’ positions count UTF-8 bytes; 10 of 10 were converted.",
        ),
        (
            lambda text: text.rindex("Ann") + 3 * ("3" in text),
            "1 of 10 stated positions of answers does not fit the paragraph; it was moved to the answer’s nearest "
            "occurrence.",
        ),
    ],
    ids=["characters", "UTF-16", "UTF-8", "one wrong"],
)
def test_the_places_of_a_file_count_characters_units_or_bytes(
    name: str, file: Callable[[list[dict[str, Any]]], bytes], place: Callable[[str], int], note: str | None
) -> None:
    rows = read_questions(file(fairs(place)), name).rows
    assert [row.value.start for row in rows] == [row.value.context.rindex("Ann") for row in rows]
    assert [one for one in build_questions("q", rows).notes if "position" in one] == ([note] if note else [])


def test_every_answer_of_a_question_has_its_place() -> None:
    text, words = FAIR.format(1), ("Ann", "é")
    places = [len(text[: text.rindex(word)].encode("utf-16-le")) // 2 for word in words]
    rows = [{"question": "Who?", "context": text, "answers": {"text": list(words), "answer_start": places}}]
    row = question_rows(records(rows))[0]
    assert (row.value.start, row.value.answers, row.places.changed) == (text.rindex("Ann"), words, 2)
    unanswerable = rows[0] | {"question": "Where?", "answers": []}
    assert [one.value.start for one in question_rows(records([unanswerable, *rows]))] == [0, text.rindex("Ann")]


def contexts(split: Any) -> set[str]:
    return {same(one.context) for one in split}


def built(rows: list[dict[str, Any]], **more: Any) -> QuestionDataset:
    return build_questions("q", question_rows(records(rows)), **more)


def test_no_paragraph_is_in_two_splits_and_questions_are_bounded() -> None:
    data = built(many(40))
    parts = [contexts(split) for split in (data.train, data.validation, data.test)]
    assert list(map(len, parts)) == [29, 3, 8]
    assert len(set.union(*parts)) == 40
    assert data.notes[0] == "8 paragraphs drawn for the test split (seed 0)."
    assert data.paragraphs("test") == 8
    few = built(many(40), max_train=50)
    assert len(few.train) == 50
    assert contexts(few.train) <= parts[0]
    assert few.test == data.test
    assert "50 of 116 questions in the train split are used." in few.notes
    assert {one.context for one in built(many(40), seed=1).test} != {one.context for one in data.test}


def test_what_the_file_says_of_splits_is_kept_and_a_leak_is_tested_rather_than_trained_on() -> None:
    rows = many(30)
    for at, row in enumerate(rows):
        row["split"] = ("training", "train", "validation", "test", "Test")[at // 4 % 5]
    leak = rows[12] | {"context": rows[12]["context"].upper(), "answers": rows[12]["answers"], "split": "train"}
    repeated = rows[0] | {"question": "what is  0?"}
    impossible = rows[0] | {"question": "And who?", "answers": []}
    data = built([*rows, leak, repeated, impossible])
    assert (len(data.train), len(data.validation), len(data.test)) == (49, 24, 48)
    assert same(leak["context"]) in contexts(data.test) - contexts(data.train)
    assert [note.split(" ", 2)[:2] for note in data.notes] == [["1", "question"], ["1", "question"], ["1", "paragraph"]]
    assert data.has_unanswerable


def test_folds_by_paragraph_test_each_question_once() -> None:
    rows = question_rows(records(many(23, 3)))
    folds = folds_of("q", rows, 5)
    tested = Counter((one.context, one.question) for fold in folds for one in fold.test)
    assert tested == Counter((row.value.context, row.value.question) for row in rows)
    for fold in folds:
        assert not contexts(fold.train) & contexts(fold.test)
        assert len(fold.train) + len(fold.test) == len(rows)
        assert fold.test is fold.validation
    assert [fold.test for fold in folds_of("q", rows, 5)] == [fold.test for fold in folds]
    for count in (1, 24):
        with pytest.raises(UserError, match="paragraphs"):
            folds_of("q", rows, count)


def test_the_bundled_answers_stand_in_their_paragraphs_and_a_guess_is_no_good() -> None:
    data: Any = SOURCES["questions"].load(0, 1_500)
    everything = [*data.train, *data.validation, *data.test]
    for one in everything:
        assert one.context[one.start : one.end] == one.answers[0]
        assert all(answer in one.context for answer in one.answers)
    assert sum(data.counts("test").values()) == len(data.test)
    assert "other" not in data.counts("train")
    bees = QuestionExample("When did Ann sell the bees?", CONTEXT)
    assert guess(bees) == "1907"
    assert guess(QuestionExample("To whom were they sold by Ann?", CONTEXT)) == "Bo"
    assert guess(QuestionExample("Why?", "no names. none here")) == "no names."
    assert guess(QuestionExample("Why?", " ")) == ""


@pytest.mark.parametrize(
    ("boxes", "told"),
    [
        ([], "Write a question first"),
        (["", "a"], "Write a question first"),
        (["who?"], "Write the paragraph"),
        (["who?", "x" * 6_001], "The paragraph has 6,001 characters"),
        (["x" * 501, "x"], "The question has 501 characters"),
    ],
)
def test_a_box_left_empty_or_too_full_is_told(boxes: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        example_of(boxes)
    assert example_of([" who\n kept ", "  Ann did. "]) == QuestionExample("who kept", "Ann did.")
