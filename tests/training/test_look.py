"""What a file would be trained on: right and sure, or asked; and read alike by the program that is handed out."""

import json
import random
from pathlib import Path

import openpyxl
import pytest

from demos.errors import UserError
from demos.training.__main__ import main
from demos.training.data.file_tables import read_table
from demos.training.data.tables import usable
from demos.training.export.recipe_file import Recipe
from demos.training.look import Look, look_at
from demos.training.sources import load_file, reader_of
from tests.programs import read_data
from tests.training.data.shapes import ANSWERS, SHAPES, SURVEY, Shape, table
from tests.training.data.workbook_files import workbook

TABLES = [
    case
    for case, shape in SHAPES.items()
    if shape.task != "entities" and not shape.name.endswith((".txt", ".zip", ".xlsx"))
]
WORDS = ("alpha", "beta", "gamma", "spalte", "foo", "wert", "data", "col", "field", "thing", "zeug")


@pytest.mark.parametrize("case", SHAPES)
def test_a_file_is_read_as_what_it_is(case: str, tmp_path: Path) -> None:
    shape = SHAPES[case]
    look = look_at(_written(shape, tmp_path)).as_json()
    assert look["task"] == shape.task
    assert look["columns"] == shape.columns
    assert look["sure"] is shape.sure
    assert look["labels"] == shape.labels
    assert list(look["labels"]) == list(shape.labels)  # in their order
    assert look["left_out"] == shape.left_out
    if shape.task not in ("entities", "labels"):
        assert look["rows"] == sum(shape.labels.values())


@pytest.mark.parametrize("case", SHAPES)
def test_the_program_reads_the_very_rows(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = SHAPES[case]
    monkeypatch.chdir(tmp_path)
    path = _written(shape, tmp_path)
    train, test, _ = read_data(Recipe("minilm", shape.task, "file", file=path.name))
    rows = reader_of(shape.task).read(shape.held, shape.name).rows
    mapping = train + test
    if shape.task == "labels":
        by_page = sorted((row.text, tuple(sorted(row.labels))) for row in rows)
        assert sorted((row["text"], tuple(sorted(row["labels"]))) for row in mapping) == by_page
        return
    if shape.task == "entities":
        by_page = sorted((tuple(row.words), tuple(row.tags)) for row in rows)
        assert sorted((tuple(row["words"]), tuple(row["tags"])) for row in mapping) == by_page
        return
    kept, _, _ = usable(rows)
    names = ("sentence1", "sentence2", "label") if shape.task == "pair" else ("text", "label")
    by_program = sorted(tuple(str(row[name]).strip() for name in names) for row in mapping)
    by_page = sorted((row.text, row.pair, row.label) if row.pair else (row.text, row.label) for row in kept)
    assert by_program == by_page
    if any(row.group for row in kept):
        assert not {row["group"] for row in train} & {row["group"] for row in test}


def test_a_choice_overrules_the_guess_and_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = SHAPES["a title and a description"]
    path = _written(shape, tmp_path)
    chosen = "text=Description,label=Class Index"
    look = look_at(path, "sentence", chosen)
    assert look.sure
    assert look.as_json()["columns"] == {"text": "Description", "label": "Class Index"}
    by_guess, by_choice = load_file("sentence", path), load_file("sentence", path, columns=chosen)
    assert {one.text for one in by_choice.train} == {one.text.split(") ", 1)[1] for one in by_guess.train}
    monkeypatch.chdir(tmp_path)
    train, _, _ = read_data(Recipe("minilm", "sentence", "file", file=path.name, columns=chosen))
    assert all(row["text"].startswith("The ") for row in train)


def test_a_choice_of_columns_that_a_file_lacks_is_said(tmp_path: Path) -> None:
    look = look_at(_written(SHAPES["eleven columns"], tmp_path), "sentence", "text=body,label=mood")
    assert look.as_json()["columns"] == {"text": "text", "label": "mood_sentiment"}
    assert "The chosen column 'body' is not there, so the columns were found again." in look.notes
    with pytest.raises(UserError, match="There is no 'colour' to choose a column for"):
        look_at(_written(SHAPES["eleven columns"], tmp_path), "sentence", "colour=text")


SECOND = [("text", "label"), *((f"a day {k}", ("yes", "no")[k % 2]) for k in range(20))]


def test_the_only_sheet_that_can_be_trained_on_is_taken_and_that_is_said(tmp_path: Path) -> None:
    path = _written(SHAPES["a workbook of which one sheet can be trained on"], tmp_path)
    for kind in ("", "sentence"):
        look = look_at(path, kind)
        assert (look.sheet, look.sheets) == ("Sheet", ("Codes", "Sheet"))
        assert "Of the workbook’s 2 sheets only “Sheet” can be trained on." in look.notes
    assert "Of the workbook’s 2 sheets only “Sheet” can be trained on." in load_file("sentence", path).notes
    chosen = look_at(path, "sentence", "sheet=Codes").as_json()
    assert (chosen["sheet"], chosen["rows"]) == ("Codes", 3)
    assert "The chosen sheet 'Notes' is not in this file." in look_at(path, "sentence", "sheet=Notes").notes
    assert "The chosen sheet 'Notes' is not in this file." in look_at(path, "", "sheet=Notes").notes


def test_of_two_sheets_none_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.xlsx"
    path.write_bytes(workbook([SURVEY, *ANSWERS], [("read me",)], SECOND, first="Spring, 2024"))
    said = "The sheets “Spring, 2024” and “Sheet1” hold data; choose one of them."
    for task in ([], ["--task", "sentence"]):
        assert main(["--data", str(path), "--look", *task]) == 0
        look = json.loads(capsys.readouterr().out)
        assert (look["sheet"], look["sheets"]) == ("", ["Spring, 2024", "Sheet", "Sheet1"])
        assert not look["sure"]
        assert look["labels"] == {}
        assert said in look["notes"]
    with pytest.raises(UserError, match=said):
        load_file("sentence", path)
    assert main(["--data", str(path), "--look", "--columns", "sheet=Sheet1"]) == 0
    look = json.loads(capsys.readouterr().out)
    assert (look["sheet"], look["sure"], look["labels"]) == ("Sheet1", True, {"no": 10, "yes": 10})


@pytest.mark.parametrize("chosen", ["sheet=Spring%2C 2024", "sheet=Spring%2C 2024,text=Beitrag,label=Nr"])
def test_the_chosen_sheet_is_read_and_by_the_program_too(
    chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [SURVEY, *((k % 4, text, mood) for k, text, mood in ANSWERS)]
    Path("two.xlsx").write_bytes(workbook(SECOND, rows, first="Spring, 2023"))
    book = openpyxl.load_workbook("two.xlsx")
    book.worksheets[1].title = "Spring, 2024"
    book.save("two.xlsx")
    data = load_file("sentence", Path("two.xlsx"), columns=chosen)
    label = 0 if "Nr" in chosen else 2
    assert {one.text for split in (data.train, data.validation, data.test) for one in split} == {
        row[1] for row in ANSWERS
    }
    assert set(data.labels) == {str(row[label]) for row in rows[1:]}
    train, test, lines = read_data(Recipe("minilm", "sentence", "file", file="two.xlsx", columns=chosen))
    assert "sheet_name='Spring, 2024'" in lines
    assert sorted((row["text"], row["label"]) for row in train + test) == sorted(
        (row[1], str(row[label])) for row in rows[1:]
    )


@pytest.mark.parametrize(("case", "low", "high"), [("stars", 1, 5), ("marks from 1 to 10, some missing", 1, 10)])
def test_a_rating_may_be_classes_or_a_score(
    case: str, low: int, high: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = SHAPES[case]
    path = _written(shape, tmp_path)
    note = (
        f"The labels are whole numbers from {low} to {high}. As classes (task sentence), they have no order; as a "
        f"score (task similarity), {high - 1} is closer to {high} than to {low}."
    )
    look = look_at(path).as_json()
    assert (look["task"], note in look["notes"]) == ("sentence", True)
    scored = look_at(path, "similarity").as_json()
    assert scored["columns"] == {"sentence1": shape.columns["text"], "score": shape.columns["label"]}
    assert (scored["rows"], note in scored["notes"]) == (sum(shape.labels.values()), True)
    assert sum(scored["left_out"].values()) == sum(shape.left_out.values())
    monkeypatch.chdir(tmp_path)
    train, test, _ = read_data(Recipe("minilm", "similarity", "file", file=path.name))
    by_program = sorted((row["sentence1"], row["score"]) for row in train + test)
    rows = reader_of("similarity").read(shape.held, shape.name).rows
    assert by_program == sorted((row.pair.first, row.pair.score) for row in rows if not row.lacks)
    two = look_at(_written(SHAPES["no header"], tmp_path)).as_json()
    assert not any("whole numbers" in note for note in two["notes"])


def test_numbers_with_decimals_are_a_score(tmp_path: Path) -> None:
    rows = [[f"The {k}th visit was long", str(k % 9 / 2 + 0.25)] for k in range(40)]
    path = tmp_path / "a.csv"
    path.write_bytes(table([["text", "rating"], *rows]))
    look = look_at(path).as_json()
    assert (look["task"], look["sure"], look["columns"]) == (
        "similarity", True, {"sentence1": "text", "score": "rating"},
    )  # fmt: skip


def test_the_command_prints_the_look_and_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _written(SHAPES["a dash for no label"], tmp_path)
    assert main(["--data", str(path), "--look"]) == 0
    look = json.loads(capsys.readouterr().out)
    assert set(look) == {"task", "columns", "sure", "rows", "labels", "left_out", "notes"}
    assert look["left_out"] == {"no label": 10}
    (tmp_path / "empty.csv").write_bytes(b"")
    assert main(["--data", str(tmp_path / "empty.csv"), "--look"]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said == "The file has no rows.\n"


@pytest.mark.parametrize("seed", range(4))
def test_an_odd_file_is_right_and_sure_or_it_is_asked(seed: int, tmp_path: Path) -> None:
    """Columns shuffled, renamed or without names, other signs between them: never a silent misreading."""
    chance = random.Random(seed)
    asked = 0
    for _ in range(25):
        shape = SHAPES[chance.choice(TABLES)]
        path, order, names = _odd(shape, chance, tmp_path)
        look = look_at(path)
        if not look.sure or look.problem:
            asked += 1
            continue
        assert look.kind == shape.task, (shape.name, path.read_text(encoding="utf-8")[:200])
        assert _places(look, order) == {
            role: sorted(names.index(one) for one in ([name] if isinstance(name, str) else name))
            for role, name in shape.columns.items()
            if role in look.mapping.places  # type: ignore[union-attr]
        }, (shape.name, path.read_text(encoding="utf-8")[:200])
        assert {role for role, name in shape.columns.items() if role != "group"} <= set(look.mapping.places)  # type: ignore[union-attr]
    assert asked < 13  # most are clear


def _written(shape: Shape, folder: Path) -> Path:
    path = folder / shape.name
    path.write_bytes(shape.held)
    return path


def _odd(shape: Shape, chance: random.Random, folder: Path) -> tuple[Path, list[int], list[str]]:
    """(an odd version of the file, where its columns were before, what they were called)."""
    whole = read_table(shape.held, shape.name)
    named = not any(str(name).startswith("column ") for name in shape.columns.values())
    names = list(whole.header) if named else [f"column {place + 1}" for place in range(len(whole.header))]
    rows = whole.rows if whole.keyed or not named else whole.rows[1:]
    cells = [
        ["" if cell is None else str(cell) if not isinstance(cell, list) else json.dumps(cell) for cell in row]
        for _, row in rows
    ]
    order = list(range(len(names)))
    if chance.random() < 0.7:
        chance.shuffle(order)
    how = chance.choice(("named", "renamed", "dropped")) if named else "dropped"
    shown = chance.sample(WORDS, len(names)) if how == "renamed" else names
    head = [] if how == "dropped" else [[shown[place] for place in order]]
    between = chance.choice(",;\t|")
    path = folder / f"odd{'.tsv' if between == chr(9) else '.csv'}"
    path.write_bytes(table([*head, *([row[place] for place in order] for row in cells)], between))
    return path, order, names


def _places(look: Look, order: list[int]) -> dict[str, list[int]]:
    """Where each role's columns stood before they were shuffled."""
    assert look.mapping
    return {role: sorted(order[place] for place in places) for role, places in look.mapping.places.items()}
