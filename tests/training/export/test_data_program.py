"""A program reads the quotes of a table, and the places of answers, as the page does."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demos.training.export.data_program import reading_of
from demos.training.export.recipe_file import Recipe
from demos.training.sources import reader_of
from tests.programs import read_data

LABELS = ("-1", "0", "1")
TEXTS = [f"film {k}" for k in range(30)]
LOOSE = '"Great movie'


def rows(*more: str, text: str = "{}", label: str = "{}") -> str:
    """Lines of text and label, between them a tab; `more` are lines that follow."""
    lines = (f"{text.format(one)}\t{label.format(LABELS[k % 3])}\n" for k, one in enumerate(TEXTS))
    return "".join(lines) + "".join(f"{line}\n" for line in more)


HEADER, NAMED = '"text"\t"label"\n', "text\tlabel\n"
WHOLE = rows('"say ""hi"" twice"\t"0"', text='"{}"', label='"{}"')
# what is between quotes: (the table, whether the program takes quotes off by itself)
TABLES = {
    "the names": (HEADER + rows(), False),
    "labels": (NAMED + rows(label='"{}"'), False),
    "every cell, one with quotes inside": (HEADER + WHOLE, False),
    "nothing, a quote is the text's own": (NAMED + rows('a "so-so" film\t0', f"{LOOSE}\t1"), False),
    "the names, a quote is a text's own": (HEADER + rows(f"{LOOSE}\t1"), True),
    "every cell but one with a quote of its own": (HEADER + WHOLE + f'{LOOSE}\t"1"\n', True),
    "labels without names": (rows('"Bof" dit-il\t"0"', '""hi""\t"1"', label='"{}"'), True),
    "a part of a text at either end": (NAMED + rows('"good" and "bad"\t"0"', '"a ""b"\t1', '"\t0'), True),
    "cells over two lines": (NAMED + rows('"first\nsecond"\t0'), False),
    "cells below sep=": (f"sep=\t\n{HEADER}" + rows(f"{LOOSE}\t1"), True),
}  # fmt: skip


def by_page(data: bytes, name: str) -> list[tuple[str, str]]:
    return sorted((row.text, row.label) for row in reader_of("sentence").read(data, name).rows)


def by_program(recipe: Recipe) -> list[tuple[str, str]]:
    train, test, _ = read_data(recipe)
    return sorted((row["text"], row["label"]) for row in train + test)


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case in TABLES for name in ("a.csv", "a.tsv")[: 2 - ("sep=" in case)]]
)
def test_quotes_between_tabs(case: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, taken_off = TABLES[case]
    (tmp_path / name).write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    read = by_page(table.encode(), name)
    recipe = Recipe("minilm", "sentence", "file", file=name)
    assert by_program(recipe) == read
    assert {label for _, label in read} == set(LABELS)
    assert len(read) >= 30
    assert ("unquoted" in reading_of(recipe).lines) is taken_off


@pytest.mark.parametrize("task", ["sentence", "question", "entities"])
def test_a_mask_in_small_letters_is_one_for_the_program_too(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page reads [mask] in any letters as [MASK]; a file without any needs no line for it."""
    monkeypatch.chdir(tmp_path)

    def read(mask: str) -> tuple[str, str, list[dict[str, Any]]]:
        if task == "question":
            asked = [
                {"question": f"What is {k} {mask}?", "answers": [{"text": "the box", "answer_start": 15}]}
                for k in range(3)
            ]
            whole = {
                "data": [{"paragraphs": [{"context": f"A {mask} is in the box {k}.", "qas": asked}]} for k in range(9)]
            }
            name, text = "a.json", json.dumps(whole)
        elif task == "entities":
            name, text = "a.conll", "".join(f"Ann{k} B-PER\n{mask} O\nhere O\n\n" for k in range(30))
        else:
            name, text = "a.tsv", NAMED + rows(text=f"{{}} {mask}")
        Path(name).write_text(text, encoding="utf-8")
        recipe = Recipe("minilm", task, "file", file=name)
        train, test, lines = read_data(recipe)
        dataset = recipe.dataset()
        return lines, str([*dataset.train, *dataset.test]), train + test

    for mask in ("[mask]", "[Mask]", "[MASK]"):
        lines, of_page, taken = read(mask)
        assert "with_masks" in lines
        assert taken
        assert "[MASK]" in of_page
        assert all("[MASK]" in str(row) for row in taken)
        assert not any(small in f"{of_page} {taken}" for small in ("[mask]", "[Mask]"))
    assert "with_masks" not in read("[mused]")[0]


def test_two_files_share_the_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.tsv", "b.csv"):
        Path(name).write_text(HEADER + rows(f"{LOOSE}\t1"), encoding="utf-8")
    recipe = Recipe("minilm", "sentence", "file", file="a.tsv", test_file="b.csv")
    assert reading_of(recipe).lines.count("def unquoted") == 1
    assert by_program(recipe) == sorted(2 * by_page(Path("a.tsv").read_bytes(), "a.tsv"))


def test_spans_that_count_utf_16_units_and_a_second_file_of_spans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"🎉 Ann{k}'s shop in Paris, isn't it?" for k in range(20)]
    places = [len(text[: text.index("Paris")].encode("utf-16-le")) // 2 for text in texts]
    spans = [{"start": at, "end": at + 5, "text": "Paris", "labels": ["LOC"]} for at in places]
    spanned = [{"text": text, "label": [span]} for text, span in zip(texts, spans, strict=True)]
    Path("a.json").write_text(json.dumps(spanned), encoding="utf-8")
    Path("b.jsonl").write_text("\n".join(map(json.dumps, spanned)), encoding="utf-8")
    *both, lines = read_data(Recipe("minilm", "entities", "file", file="a.json", test_file="b.jsonl"))
    for function in ("split_words", "word_tags", "place_of"):
        assert lines.count(f"def {function}(") == 1
    words = [["🎉", f"Ann{k}", "'s", "shop", "in", "Paris", ",", "is", "n't", "it", "?"] for k in range(20)]
    for rows in both:
        assert [row["words"] for row in rows] == words
        assert all([tag for tag in row["tags"] if tag != "O"] == ["B-LOC"] for row in rows)
        assert all(row["tags"][5] == "B-LOC" for row in rows)


FAIR = "🎉 Ann sells tea at {}. 🎉 Ann buys é."
PLACES: dict[str, Callable[[str], Any]] = {
    "characters": lambda text: text.rindex("Ann"),
    "UTF-16 units": lambda text: len(text[: text.rindex("Ann")].encode("utf-16-le")) // 2,
    "UTF-8 bytes": lambda text: len(text[: text.rindex("Ann")].encode()),
    "one too far": lambda text: text.rindex("Ann") + 90 * (" 3." in text),
    "one before all": lambda text: text.rindex("Ann") if " 3." not in text else -1,
    "texts": lambda text: str(text.rindex("Ann")),
    "numbers with a point": lambda text: float(text.rindex("Ann")),
    "none": lambda text: None,
}


def asked(place: Callable[[str], Any]) -> list[dict[str, Any]]:
    texts = [FAIR.format(number) for number in range(12)]
    return [{"question": "Who?", "context": text, "answers": "Ann", "answer_start": place(text)} for text in texts]


def as_squad(rows: list[dict[str, Any]]) -> str:
    """Some of them in other capitals, with a second answer or with none."""
    paragraphs = []
    for number, row in enumerate(rows):
        stated = {} if row["answer_start"] is None else {"answer_start": row["answer_start"]}
        answers = [{"text": "ANN" if number == 5 else "Ann"} | stated, {"text": "Ann"} | stated][: 1 + number % 2]
        qas = [{"question": "Who?", "answers": answers}, {"question": "Where?", "is_impossible": True, "answers": []}]
        paragraphs.append({"context": row["context"], "qas": qas})
    return json.dumps({"data": [{"title": "fairs", "paragraphs": paragraphs}]})


def as_lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


def as_csv(rows: list[dict[str, Any]]) -> str:
    lines = [",".join(f'"{"" if cell is None else cell}"' for cell in row.values()) for row in rows]
    return "\n".join([",".join(rows[0]), *lines])


def starts_of(name: str) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]], str]:
    """(where the page finds each question's answer, where the program does, its lines)."""
    train, test, lines = read_data(Recipe("minilm", "question", "file", file=name))
    rows = reader_of("question").read(Path(name).read_bytes(), name).rows
    by_page = sorted((row.value.context, row.value.question, row.value.start) for row in rows)
    return by_page, sorted((row["context"], row["question"], row["answer_start"]) for row in train + test), lines


@pytest.mark.parametrize("case", PLACES)
@pytest.mark.parametrize(("name", "file"), [("a.json", as_squad), ("a.jsonl", as_lines), ("a.csv", as_csv)])
def test_answers_begin_where_the_page_finds_them(
    name: str, file: Callable[[list[dict[str, Any]]], str], case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(file(asked(PLACES[case])), encoding="utf-8")
    by_page, by_program, lines = starts_of(name)
    assert by_program == by_page
    converted = case in ("UTF-16 units", "UTF-8 bytes")
    assert (f"the file counts {case}" in lines) is converted
    assert ("the nearest" in lines) is (name != "a.json" or case != "characters")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("name", "file"), [("a.json", as_squad), ("a.jsonl", as_lines), ("a.csv", as_csv)])
def test_any_places_are_read_as_on_the_page(
    name: str, file: Callable[[list[dict[str, Any]]], str], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places of the file's own units, and in half of the files some that fit nowhere."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(seed)
    rows = []
    for number in range(40):
        text = "".join(draw.choices(["Ann", "a", "é", "🎉"], k=12)) + f"Ann{number}"
        at = draw.choice([place for place in range(len(text)) if text.startswith("Ann", place)])
        before = text[:at]
        place: Any = (at, len(before.encode("utf-16-le")) // 2, len(before.encode()))[seed % 3]
        if seed > 2:
            place = draw.choice([place, place, draw.randrange(-3, 60), float(place), str(place), None])
        rows.append({"question": "Who?", "context": text, "answers": "Ann", "answer_start": place})
    Path(name).write_text(file(rows), encoding="utf-8")
    by_page, by_program, _ = starts_of(name)
    assert by_program == by_page
