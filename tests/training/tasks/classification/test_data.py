"""Splits: seeded, stratified, without a leak; what the file splits itself is kept."""

from pathlib import Path

import pytest

from demos.errors import UserError
from demos.training.data.tables import MIN_PER_CLASS, Row
from demos.training.sources import load_file
from demos.training.tasks.classification.data import Dataset, build_dataset, load_emotion


def rows(counts: dict[str, int], split: str = "") -> list[Row]:
    return [
        Row(10_000 * c + k, f"{label} sentence {k} {split}", label, split)
        for c, (label, count) in enumerate(counts.items())
        for k in range(1, count + 1)
    ]


def texts(data: Dataset) -> list[set[str]]:
    return [{e.text for e in split} for split in (data.train, data.validation, data.test)]


def test_a_file_without_splits_is_split_class_by_class() -> None:
    data = build_dataset("d", rows({"a": 100, "b": 50, "c": 10}), seed=3)
    assert data.labels == ("a", "b", "c")
    assert data.counts("test") == (20, 10, 2)
    assert data.counts("validation") == (8, 4, 1)  # a tenth of what the test left
    assert sum(map(sum, map(data.counts, ("train", "validation", "test")))) == 160
    train, validation, test = texts(data)
    assert len(train | validation | test) == 160
    assert data == build_dataset("d", rows({"a": 100, "b": 50, "c": 10}), seed=3)
    assert data.test != build_dataset("d", rows({"a": 100, "b": 50, "c": 10}), seed=4).test
    assert any("seed 3" in note for note in data.notes)


def test_the_files_own_splits_are_kept() -> None:
    data = build_dataset(
        "d", [*rows({"a": 9, "b": 9}, "training"), *rows({"a": 4, "b": 4}, "TEST"), *rows({"a": 2}, "val")]
    )
    assert data.counts("train") == (9, 9)
    assert data.counts("validation") == (2, 0)
    assert data.counts("test") == (4, 4)


def test_a_class_with_one_training_sentence_stays_to_be_trained_on() -> None:
    data = build_dataset("d", [*rows({"a": 9, "b": 1}, "train"), *rows({"a": 4, "b": 6}, "test")])
    assert data.counts("train") == (8, 1)
    assert data.counts("validation") == (1, 0)


def test_a_dev_split_alone_is_the_test() -> None:
    data = build_dataset("d", [*rows({"a": 30, "b": 30}, "train"), *rows({"a": 4, "b": 5}, "dev")])
    assert data.counts("test") == (4, 5)
    assert data.counts("validation") == (3, 3)
    assert any("validation split is used for the test" in note for note in data.notes)


def test_a_sentence_is_in_one_split_only() -> None:
    doubled = [*rows({"a": 9, "b": 9}, "train"), *rows({"a": 5, "b": 5}, "test")]
    doubled += [Row(1, "A  SENTENCE 1 test", "a", "train"), Row(2, "a sentence 2 test", "b", "train")]
    data = build_dataset("d", doubled)
    assert data.counts("test") == (5, 5)
    assert sum(data.counts("train")) + sum(data.counts("validation")) == 18
    assert data.notes[0].startswith("2 sentences removed")


def test_a_separate_test_file(tmp_path: Path) -> None:
    train, test = tmp_path / "train.tsv", tmp_path / "dev.tsv"
    train.write_text("".join(f"film {k} is fine\t{k % 2}\n" for k in range(60)), encoding="utf-8")
    test.write_text(
        "".join(f"show {k} was fine\t{k % 2}\n" for k in range(10)) + "film 3 is fine\t1\n", encoding="utf-8"
    )
    data = load_file("sentence", train, test, max_train=40)
    assert sum(data.counts("test")) == 11
    assert data.counts("train") == (20, 20)
    assert "film 3 is fine" not in texts(data)[0] | texts(data)[1]


def test_pairs_keep_the_rules_and_a_pair_turned_round_is_the_same() -> None:
    given = [Row(k, f"one {k}", "same" if k % 3 else "other", pair=f"two {k}") for k in range(1, 91)]
    given += [Row(100 + k, f"TWO {k}", "same", pair=f" one {k}") for k in range(1, 6)]
    data = build_dataset("d", given)
    assert data.kind == "pair"
    assert data.labels == ("other", "same")
    assert data.counts("test") == (6, 12)
    assert sum(map(sum, map(data.counts, ("train", "validation", "test")))) == 90
    assert all(e.pair == e.text.replace("one", "two") for e in data.test)
    assert data.notes[0] == "5 pairs removed because an earlier row has the same content."
    shared = [Row(k, "one and the same", "ab"[k % 2], pair=f"two {k}") for k in range(50)]
    assert build_dataset("d", shared).notes[-1] == "10 test pairs with a sentence that a training pair has too."


def test_a_lone_surrogate_is_cleaned() -> None:
    data = build_dataset("d", [*rows({"a": 9, "b": 9}), Row(99, "x \ud800 y", "a")])
    assert "x \ufffd y" in set.union(*texts(data))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (rows({"a": 30}), "the same label, 'a'"),
        (rows({f"c{k}": MIN_PER_CLASS for k in range(51)}), "51 different values"),
        (rows({"a": 30, "b": MIN_PER_CLASS - 1}), "'b' (row 10001) has 4 different sentences"),
        (rows({"a": 9, "b": 9}, "test"), "No row is in the training split"),
        ([*rows({"a": 9, "b": 9}, "train"), Row(77, "x", "a")], "Row 77 has no split"),
        (rows({"a": 9, "b": 9}, "holdout"), "Row 1 has the split 'holdout'"),
        ([*rows({"a": 9}, "train"), *rows({"b": 9}, "test")], "No training sentence has the class 'b'"),
        ([*rows({"a": 9, "b": 9}), Row(5, "x" * 20_001, "a")], "Row 5 has 20,001 characters"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(given: list[Row], told: str) -> None:
    with pytest.raises(UserError) as refused:
        build_dataset("d", given)
    assert told in str(refused.value)


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="could not be read"):
        load_file("sentence", tmp_path / "gone.csv")


def test_the_emotion_sentences_keep_their_splits() -> None:
    data = load_emotion()
    assert len(data.labels) == 6
    assert data.notes == ()
    assert min(data.counts("train")) >= 80
    assert not set.intersection(*texts(data))
    fewer = load_emotion(max_train=60)
    assert fewer.counts("train") == (10,) * 6
    assert fewer.test == data.test
    assert sum(load_emotion(max_train=100).counts("train")) == 100
