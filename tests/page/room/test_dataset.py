"""A data set that a hall writes: bounds, duplicates, agreement against a count of all pairs, and Fine-tune reads it."""

import itertools
import json
import random
from pathlib import Path

import pytest

from demos.errors import UserError
from demos.page.room import dataset as module
from demos.page.room.dataset import HallData
from demos.training.form_values import UPLOAD, read_dataset


def test_agreement_is_that_of_all_pairs() -> None:
    draw = random.Random(0)
    data = HallData(["a", "b", "c"])
    for number in range(40):
        data.write("m0", f"Sentence {number}.", draw.randrange(3))
        for member in range(1, draw.randrange(1, 6)):
            data.label(f"m{member}", number + 1, draw.randrange(3))
    given = [list(one.labels.values()) for one in data.texts.values()]
    pairs = [[a == b for a, b in itertools.combinations(labels, 2)] for labels in given if len(labels) > 1]
    share, several = data.agreement
    assert share == pytest.approx(sum(sum(one) / len(one) for one in pairs) / len(pairs))
    assert several == len(pairs) < 40
    assert HallData(["a", "b"]).agreement == (None, 0)
    assert [sum(one["counts"]) for one in data.listed()] == [len(labels) for labels in given]
    assert sum(data.summary()["counts"]) == data.summary()["sentences"] == 40


def test_who_wrote_it_has_labelled_it_and_the_least_labelled_comes_next() -> None:
    data = HallData(["a", "b"])
    data.write("ann", "One.", 0)
    data.write("bob", "Two.", 1)
    assert data.next_for("ann") == (2, "Two.")
    data.label("eve", 1, 1)
    assert data.next_for("joe") == (2, "Two.")
    data.label("ann", 2, 0)
    data.label("ann", 2, 1)  # once only
    assert data.next_for("ann") is None
    assert data.texts[2].labels == {"bob": 1, "ann": 0}
    assert data.texts[2].label == 1  # among equals what was said first
    data.label("eve", 2, 0)
    assert data.texts[2].label == 0
    data.drop(2)
    data.drop("none")
    data.label("joe", 2, 0)
    data.write("ann", "Two.", 0)  # it may be written anew
    assert data.next_for("bob") == (3, "Two.") or data.next_for("bob") == (1, "One.")


def test_blanks_and_duplicates_are_told_and_all_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = HallData(["a", "b"])
    data.write("ann", "A <b>bank</b>.", 0)
    for wrong in (" a  <B>bank</b>. ", "", " \n", "\u202e", None, 7, "x" * 301):
        with pytest.raises(UserError):
            data.write("bob", wrong, 0)
    for place in (2, -1, True, "0", None):
        with pytest.raises(UserError):
            data.write("bob", "Another.", place)
        with pytest.raises(UserError):
            data.label("bob", 1, place)
    monkeypatch.setattr(module, "MOST_PER_MEMBER", 2)
    data.write("ann", "Two.", 0)
    with pytest.raises(UserError, match="label those of others"):
        data.write("ann", "Three.", 0)
    monkeypatch.setattr(module, "MOST_TEXTS", 3)
    data.write("bob", "Three.", 0)
    with pytest.raises(UserError, match="full"):
        data.write("eve", "Four.", 0)


@pytest.mark.parametrize("classes", ["ab", None, ["a"], ["a"] * 7, ["a", "A"], ["a", ""], ["a", "x" * 41], ["a", 7]])
def test_classes_are_two_to_six_names(classes: object) -> None:
    with pytest.raises(UserError):
        HallData(classes)


def test_fine_tune_reads_it(tmp_path: Path) -> None:
    data = HallData(["good", "=bad()"])
    for number in range(40):
        data.write(f"m{number}", f"=The film was number {number}, 'quoted' & \"so\".", number % 2)
    file = tmp_path / "class.json"
    file.write_text(json.dumps(data.rows()), encoding="utf-8")
    splits = read_dataset("sentence", UPLOAD, str(file), None, "", "", 10**6, 0)
    examples = (*splits.train, *splits.validation, *splits.test)
    read = {example.text: splits.labels[example.label] for example in examples}
    assert read == {one["text"]: one["label"] for one in data.rows()}
