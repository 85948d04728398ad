"""Labels as people mean them: one class for what looks alike, none for a dash, numbers in their order."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demos.training.data.columns.labels import clean_label, in_order, is_missing, merged, merged_notes, visible
from demos.training.data.tables import read_rows
from demos.training.sources import reader_of
from demos.training.tasks.classification.data import Dataset, build_dataset


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("1.0", "1"), ("-1.0", "-1"), ("1,00", "1"), ("1.5", "1.5"), ("fe\u0302te", "fête"), ("\ufeffspam", "spam"),
        ("travail\u200b", "travail"), (" so\u00a0 so ", "so so"), ("co\u00adop", "coop"), ("None", "None"), ("N/A", ""),
        ("-", ""), ("—", ""), ("NaN", ""), ("null", ""), ("  ", ""), ("\u200b", ""), ("👩\u200d💻", "👩\u200d💻"),
    ],
)  # fmt: skip
def test_a_label_has_one_spelling(written: str, label: str) -> None:
    assert clean_label(written) == label
    assert is_missing(written) is (label == "" and written != "\u200b")


@given(st.text(max_size=20))
def test_a_clean_label_is_clean(text: str) -> None:
    label = clean_label(text)
    assert clean_label(label) == label
    assert unicodedata.is_normalized("NFC", label)


def test_capitals_are_those_of_most_rows_and_each_merging_is_said() -> None:
    labels = ["Spam", "spam", "spam", "HAM"]
    classes = merged(labels)
    assert classes == {"Spam": "spam", "spam": "spam", "HAM": "HAM"}
    assert merged_notes([(label, classes[label]) for label in labels]) == [
        "1 label written “Spam” is the class “spam”."
    ]
    assert merged_notes([("1.0", "1")] * 3) == []  # of one spelling nothing is merged
    two = [("a\u200b", "a"), ("A", "a"), ("a", "a")]
    assert merged_notes(two) == ["2 labels written “a[ZERO WIDTH SPACE]”, “A” are the class “a”."]
    assert visible("a\tb\u00a0") == "a[U+0009]b[NO-BREAK SPACE]"


def test_numbers_are_in_their_own_order_everywhere() -> None:
    assert in_order(["10", "9", "2", "-1", "1.5"]) == ("-1", "1.5", "2", "9", "10")
    assert in_order(["10", "b", "2"]) == ("10", "2", "b")
    rows = "text,label\n" + "".join(f"text number {k},{(1, 2, 10)[k % 3]}\n" for k in range(60))
    read = reader_of("sentence").read(rows.encode(), "a.csv")
    dataset = build_dataset("a", read.rows)
    assert isinstance(dataset, Dataset)
    assert dataset.labels == ("1", "2", "10")
    assert {dataset.labels[one.label] for one in dataset.train} == {"1", "2", "10"}


def test_rows_keep_the_label_as_it_was_written() -> None:
    rows = read_rows(b"text,label\na,1.0\nb,1\nc,0\n", "a.csv")
    assert [(row.label, row.written) for row in rows] == [("1", "1.0"), ("1", ""), ("0", "")]
