"""Labelled sentences for a classifier: where they come from, which are held out, and what is refused."""

import hashlib
import io
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import constants
from sklearn.model_selection import train_test_split

from demos.errors import UserError
from demos.training.data import sst2 as guide
from demos.training.data.labelled_sentences import (
    OWN_SPLIT,
    build_labelled,
    from_bytes,
    own_sentences,
    read_labelled,
    split_rows,
)
from demos.training.data.tables import Row
from demos.training.tasks.classification.data import load_emotion


def rows_of(count: int, classes: int = 2, split: str = "") -> list[Row]:
    return [Row(n + 1, f"sentence number {n}", f"c{n % classes}", split) for n in range(count)]


def tsv_of(count: int) -> bytes:
    return "".join(f"a film review , number {n}\t{n % 2}\n" for n in range(count)).encode()


def test_the_own_split_holds_out_what_the_fine_tune_tests_on() -> None:
    data, fine_tuned = own_sentences(False), load_emotion()
    split = split_rows(data, OWN_SPLIT)
    assert {data.texts[at] for at in split.test} == {example.text for example in fine_tuned.test}
    assert data.labels == fine_tuned.labels
    assert len(split.train) == 576
    assert len(set(split.train) | set(split.test)) == 720


def test_two_classes_of_the_own_sentences() -> None:
    data = own_sentences(True)
    assert data.labels == ("joy", "sadness")
    assert np.bincount(data.targets).tolist() == [120, 120]


def test_the_first_rows_split_as_scikit_learn_splits_them() -> None:
    data = build_labelled("file.tsv", rows_of(2_600))
    assert len(data.texts) == 2_000
    assert data.texts[-1] == "sentence number 1999"
    split = split_rows(data, "3")
    train, test = train_test_split(np.arange(2_000), random_state=3, stratify=data.targets)
    np.testing.assert_array_equal(split.train, train)
    np.testing.assert_array_equal(split.test, test)
    assert len(test) == 500
    assert split_rows(data, OWN_SPLIT).key == "0"  # the file has none
    for wrong in ("<b>", "10", "-1", "²", "", None, 1.5):
        with pytest.raises(UserError, match=r"There is no split .*; choose .* seed from 0 to 9"):
            split_rows(data, wrong)  # type: ignore[arg-type]


def test_a_sentence_counts_once() -> None:
    data = build_labelled("f", [*rows_of(20), Row(21, " Sentence  NUMBER 3", "c1")])
    assert len(data.texts) == 20
    assert data.notes == ("1 row left out: an earlier row has the same sentence.",)
    other = Row(21, "sentence number 3", "c0")
    assert build_labelled("f", [*rows_of(20), other]).notes[1:] == (
        "Rows 4 and 21 have the same sentence with the labels 'c1' and 'c0': row 4 is used.",
    )
    others = [other, replace(other, number=22)]
    notes = build_labelled("f", [*rows_of(20), *others]).notes
    assert notes[1].endswith("row 4 is used; the same holds for 1 more row.")


def test_a_file_sorted_by_class_is_drawn_from() -> None:
    rows = [Row(n + 1, f"sentence {n}", "a" if n < 90 else "b") for n in range(100)]
    data = build_labelled("f", rows, most=40)
    assert np.bincount(data.targets)[1] >= 5
    assert "drawn at random within each class" in data.notes[0]


def test_a_file_that_is_a_little_too_long_is_drawn_from_too() -> None:
    rows = [Row(at, f"sentence {at}", f"class {at // 6:02}") for at in range(300)]  # 50 classes, sorted
    data = build_labelled("f", rows, most=290)
    assert len(data.labels) == 50
    assert 250 <= len(data.texts) <= 290


def test_a_split_column_is_kept() -> None:
    data = build_labelled(
        "f", [*rows_of(20, split="train"), *[Row(99 + n, f"new {n}", f"c{n % 2}", "test") for n in (0, 1)]]
    )
    assert split_rows(data, OWN_SPLIT).test.tolist() == [20, 21]
    assert len(split_rows(data, "0").test) == 6


def test_a_split_that_is_not_known_is_told_as_in_fine_tune() -> None:
    named = [*rows_of(20, split="train"), Row(21, "new 1", "c0", "test"), Row(22, "new 2", "c1", "tset")]
    with pytest.raises(UserError, match="Row 22 has the split 'tset'; use train, validation or test"):
        build_labelled("f", named)
    with pytest.raises(UserError, match="Row 22 has no split, but other rows have one"):
        build_labelled("f", [*named[:-1], Row(22, "new 2", "c1")])


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (rows_of(20, split="train"), "it has no held-out examples"),
        (rows_of(20, split="test"), "it leaves no examples for training"),
        (
            [*rows_of(20, split="test"), *rows_of(20, classes=1, split="dev")],
            "it leaves fewer than 2 training sentences for class 'c1'",
        ),
    ],
)
def test_a_split_column_that_is_not_used_is_told(rows: list[Row], why: str) -> None:
    data = build_labelled("f", [Row(n, f"{row.text} {n}", row.label, row.split) for n, row in enumerate(rows, 1)])
    assert data.own_test is None
    (note,) = data.notes
    assert note.startswith(f"The split in the file is not used, because {why}")
    assert build_labelled("f", rows_of(20)).notes == ()  # no such column, nothing to tell


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "a.tsv", "no rows"),
        (b"only\ttwo\nthe same\tx\n", "a.tsv", "1 different sentence;"),
        (b'text,label\n"broken', "a.csv", "broken"),
        (b"\x89PNG\r\n", "a.csv", "picture"),
        ("".join(f"t {n}\tsame\n" for n in range(9)).encode(), "a.tsv", "same label"),
        (b"text\tlabel\n" + b"again\ta\nagain\tb\n" * 9, "a.tsv", "only the class 'a' is left"),
        ("".join(f"t {n}\tl{n % 60}\n" for n in range(600)).encode(), "a.tsv", "60 different values"),
        ("".join(f"t {n}\tl{n % 2}\n" for n in range(8)).encode(), "a.tsv", "needs at least 5"),
    ],
)
def test_a_bad_upload_ends_in_one_sentence(tmp_path: Path, content: bytes, name: str, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        read_labelled("file", str(path))
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match="Choose a CSV"):
        read_labelled("file", None)
    with pytest.raises(UserError, match="could not be read"):
        read_labelled("file", "/nowhere/at/all.tsv")
    with pytest.raises(UserError, match="no data called"):
        read_labelled("<script>", None)


def test_the_guides_file_is_known_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    content = tsv_of(60)
    assert not from_bytes(content, "train.tsv").guide
    monkeypatch.setattr(guide, "SHA256", hashlib.sha256(content).hexdigest())
    data = from_bytes(content, "renamed.tsv")
    assert data.guide
    assert data.labels == ("negative", "positive")
    assert data.name == "SST-2, file of Alammar's guide"


def test_sst2_is_fetched_only_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    guide.fetch_guide.cache_clear()
    with pytest.raises(UserError, match="choose it as your own file"):  # the tests run offline
        read_labelled("sst2")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    answers: list[Any] = [OSError("no route"), b"another file", tsv_of(60)]

    def answer(url: str, timeout: float) -> io.BytesIO:
        assert url == guide.URL
        assert timeout <= 10
        found = answers.pop(0)
        if isinstance(found, OSError):
            raise found
        return io.BytesIO(found)

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    monkeypatch.setattr(guide, "SHA256", hashlib.sha256(tsv_of(60)).hexdigest())
    with pytest.raises(UserError, match="could not be downloaded"):
        read_labelled("sst2")
    with pytest.raises(UserError, match="differs from that of Alammar's guide"):
        read_labelled("sst2")
    assert len(read_labelled("sst2").texts) == 60
    assert len(read_labelled("sst2").texts) == 60  # kept: there is no fourth answer
    guide.fetch_guide.cache_clear()
