"""Sources: our own data by key, and the files of each kind of task, as their publishers name the columns."""

from pathlib import Path
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.data.splits import same
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.settings import Settings
from demos.training.sources import READERS, SOURCES, load_file
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.registry import task_of


@pytest.mark.parametrize("key", SOURCES)
def test_our_own_data_has_three_splits_without_a_leak_and_a_task(key: str) -> None:
    source = SOURCES[key]
    assert source.kind in READERS
    data: Any = source.load(0, 1_500)
    assert data.name == source.title
    splits = (data.train, data.validation, data.test)
    assert all(splits)
    assert len(set(map(repr, (*data.train, *data.validation, *data.test)))) == sum(map(len, splits))
    counted = "without an answer", "no label"
    assert [
        note for note in data.notes if not any(words in note for words in counted)
    ] == []  # nothing had to be taken out or drawn
    assert task_of(data, Settings()).metric
    assert source.load(0, 1_500) is data
    few: Any = source.load(0, 40)
    assert len(few.train) <= 40 < len(data.train)
    assert few.test == data.test


ROWS = [(f"The {k}th cat sleeps.", f"A cat sleeps, {k}.", ("no", "yes")[k % 2]) for k in range(30)]
PAIR_FILES = {
    "glue.tsv": "index\tsentence1\tsentence2\tlabel\n{}\t{}\t{}\t{}\n",
    "qqp.csv": 'id,qid1,qid2,question1,question2,is_duplicate\n{0},1,2,"{1}","{2}",{3}\n',
    "mrpc.tsv": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n{3}\t{0}\t{0}\t{1}\t{2}\n",
    "mnli.jsonl": '{{"premise": "{1}", "hypothesis": "{2}", "gold_label": "{3}", "n": {0}}}\n',
    "qnli.tsv": "index\tquestion\tsentence\tlabel\n{}\t{}\t{}\t{}\n",
    "nameless.tsv": "{1}\t{2}\t{3}\n",
}


@pytest.mark.parametrize("name", PAIR_FILES)
def test_pairs_under_all_their_names(name: str, tmp_path: Path) -> None:
    *head, line = PAIR_FILES[name].splitlines(keepends=True)
    (tmp_path / name).write_text(
        "".join([*head, *(line.format(k, *row) for k, row in enumerate(ROWS))]), encoding="utf-8"
    )
    data = load_file("pair", tmp_path / name)
    assert isinstance(data, Dataset)
    found = {(e.text, e.pair, data.labels[e.label]) for e in (*data.train, *data.validation, *data.test)}
    assert found == set(ROWS)


def test_a_second_file_is_the_test(tmp_path: Path) -> None:
    files = [tmp_path / "train.tsv", tmp_path / "test.csv"]
    files[0].write_text(
        "s1\ts2\tlabel\tsplit\n" + "".join(f"{a}\t{b}\t{c}\ttest\n" for a, b, c in ROWS), encoding="utf-8"
    )
    files[1].write_text(
        "text1,text2,label\n" + "".join(f"{a[:-1]},{b[:-1].replace(',', '')},{c}\n" for a, b, c in ROWS),
        encoding="utf-8",
    )
    data: Any = load_file("pair", *files)
    assert data.name == "train.tsv and test.csv"
    assert {same(e.text) for e in data.test} == {same(a[:-1]) for a, _, _ in ROWS}
    assert len(data.train) + len(data.validation) == 30


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("pair", "sentence1,text,label\na,b,c\n", "No column is named sentence2"),
        ("pair", "a,b\nc,d\n", "No column is named sentence1 and sentence2 and label"),
        ("pair", "sentence1,sentence2,label\na,b,c\na,,c\n", "Row 3 has no second sentence"),
        ("pair", "sentence1,sentence2,label\na,b,c\na,d,\n", "Row 3 has no label"),
        ("pair", "sentence1,sentence2,label\n" + "".join(f"a{k},b,{k}\n" for k in range(9)), "1 different pair;"),
        ("sentence", "sentence1,sentence2,label\na,b,c\n", "Every row has the same label"),
        ("<b>", "a", "There is no task called '<b>' here"),
    ],
)
def test_what_is_broken_is_one_sentence(kind: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=told) as refused:
        load_file(kind, tmp_path / "a.csv")
    assert "\n" not in str(refused.value)


def test_a_huge_file_is_not_read_to_its_end_and_a_folder_is_none(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(10 * MAX_UPLOAD)
    with pytest.raises(UserError, match=r"50\.0 MB; the limit is 5 MB"):
        load_file("pair", tmp_path / "a.csv")
    with pytest.raises(UserError, match="could not be read"):
        load_file("pair", tmp_path)
