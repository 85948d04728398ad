"""The labels of a row are found in every form that files have, and single classes are left to the task for them."""

from typing import Any

import pytest

from demos.training.tasks.multi_label.label_sets import (
    LISTED,
    MARKED,
    TEXT,
    LabelSets,
    label_sets,
    listed_labels,
)

JIGSAW = ("id", "comment_text", "toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
A, B, AB, NO = ("a",), ("b",), ("a", "b"), ()
NUMBERS = (("3", "10"), ("3",), ("10",))


@pytest.mark.parametrize(
    ("header", "rows", "found"),
    [
        # lists of JSON, as doccano and GoEmotions have them
        (("id", "text", "label"), [(1, "x", ["a", "b"]), (2, "y", []), (3, "z", ["a"])],
         (LISTED, (2,), (AB, NO, A), "")),
        (("text", "labels"), [("x", [3, 10]), ("y", [3]), ("z", None)], (LISTED, (1,), (("3", "10"), ("3",), NO), "")),
        (("text", "labels"), [("x", ["b", "a", "b ", ""])], (LISTED, (1,), (("b", "a"),), "")),
        (("text", "kinds"), [("x", ["a", "b"]), ("y", [])], (LISTED, (1,), (AB, NO), "")),  # lists under another name
        # lists as text
        (("text", "label"), [("x", '["a", "b"]'), ("y", "[]"), ("z", "")], (LISTED, (1,), (AB, NO, NO), "")),
        (("text", "label"), [("x", "['a', 'b']"), ("y", "['a']")], (LISTED, (1,), (AB, A), "")),
        # text with a sign between
        (("text", "topics"), [("x", "a;b"), ("y", "b"), ("z", " ")], (TEXT, (1,), (AB, B, NO), ";")),
        (("text", "topics"), [("x", "a | b"), ("y", "b"), ("z", "a")], (TEXT, (1,), (AB, B, A), "|")),
        (("text", "labels"), [("x", "3,10"), ("y", "3"), ("z", "10")], (TEXT, (1,), NUMBERS, ",")),
        (("", "", ""), [("x", "3,10", "eb7"), ("y", "3", "ed0"), ("z", "10", "q")],
         (TEXT, (1,), NUMBERS, ",")),
        (("text", "topic"), [("x", "a; b, c"), ("y", "b, c"), ("z", "a")],
         (TEXT, (1,), (("a", "b, c"), ("b, c",), A), ";")),
        # a comma in a class's own name
        (("text", "topic"), [("x", "Sports, other"), ("y", "Politics, other"), ("z", "Music")],
         (TEXT, (1,), (("Sports, other",), ("Politics, other",), ("Music",)), "")),
        (("text", "label"), [("x", "a"), ("y", "b")], (TEXT, (1,), (A, B), "")),
        (("text", "label"), [("x", "a"), ("y", None)], (TEXT, (1,), (A, NO), "")),
        # columns of 0 and 1
        (JIGSAW, [("0c4", "x", 1, 0, 1, 0, 0, 0), ("1d5", "y", 0, 0, 0, 0, 0, 0)],
         (MARKED, (2, 3, 4, 5, 6, 7), (("toxic", "obscene"), NO), "")),
        (("text", "a", "b"), [("x", "1", ""), ("y", "0.0", "1.0")], (MARKED, (1, 2), (A, B), "")),
        (("text", "unclear", "a", "b"), [("x", "True", "1", "0"), ("y", "False", "1", "1")],
         (MARKED, (2, 3), (A, AB), "")),
        (("text", "a", "b"), [("x", True, False), ("y", False, False)], (MARKED, (1, 2), (A, NO), "")),
        (("text", "split", "a", "b"), [("x", "1", 1, 1), ("y", "0", 0, 1)], (MARKED, (2, 3), (AB, B), "")),
    ],
)  # fmt: skip
def test_labels_are_found(header: tuple[str, ...], rows: list[Any], found: tuple[Any, ...]) -> None:
    assert label_sets(header, rows) == LabelSets(*found)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (("text", "year"), [("x", 1990), ("y", 1991)]),
        (("text", "a"), [("x", 1), ("y", 0)]),  # one column of 0 and 1 is two classes
        (("text", "a", "b"), [("x", 1, 2), ("y", 0, 1)]),
        (("text", "label"), [("x", [[0, 4, "a"]]), ("y", [])]),  # doccano's spans are names, not labels
        (("text", "label"), [("x", {"a": 1}), ("y", {})]),
        (("text", "labels"), [("x", None), ("y", "")]),
        ((), []),
    ],
)
def test_there_are_none(header: tuple[str, ...], rows: list[Any]) -> None:
    assert label_sets(header, rows) is None


def test_single_classes_are_told_from_several_labels() -> None:
    sets = {
        form: label_sets(("text", "label"), [("x", cells[0]), ("y", cells[1])])
        for form, cells in {"one": (["a"], ["b"]), "some": (["a"], []), "several": (["a", "b"], ["a"])}.items()
    }
    assert {form: found and (found.one_each, found.several) for form, found in sets.items()} == {
        "one": (True, False), "some": (False, False), "several": (False, True),
    }  # fmt: skip


def test_columns_of_marks_win_over_a_class_in_each_row() -> None:
    found = label_sets(("text", "label", "a", "b"), [("x", "news", 1, 1), ("y", "blog", 0, 1)])
    assert (found.form, found.sets) == (MARKED, (AB, B))


@pytest.mark.parametrize("cell", ["[", '[{"a": 1}]', "[1, [2]]", "a", 3, {"a": 1}, "[" * 9_999, f"[{'1,' * 5_000}1]"])
def test_what_is_no_list_of_labels(cell: Any) -> None:
    assert listed_labels(cell) is None
