"""Hub data sets without a Hub: real Parquet files in its place, and one sentence for whatever goes wrong."""

import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest

from demos.errors import UserError
from demos.lessons.finetune.train.data import column_html
from demos.training.data import hub_data
from demos.training.data.columns.mapping import UnclearError
from demos.training.data.tables import LABEL, TEXT, Column
from demos.training.look import look_at_hub
from demos.training.sources import load_hub
from demos.training.tasks.classification.data import Dataset
from demos.training.tasks.multi_label.data import MultiLabelDataset
from demos.training.tasks.multiple_choice.data import ChoiceDataset
from demos.training.tasks.similarity.data import SimilarityDataset

COLUMNS = (TEXT, LABEL)
LOAD = datasets.load_dataset
Serve = Callable[..., None]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """Each test asks anew."""
    hub_data._Fetch._known.clear()
    yield
    hub_data._Fetch._known.clear()


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Put these splits on a Hub that is in reach: written as Parquet, streamed as from there."""

    def put(**splits: datasets.Dataset) -> None:
        for split, data in splits.items():
            data.to_parquet(tmp_path / f"{split}.parquet")

        def load(address: str, config: str | None, *, streaming: bool, token: bool) -> Any:
            assert (address, config, streaming, token) == ("hf://datasets/me/data", None, True, False)
            files = {split: str(tmp_path / f"{split}.parquet") for split in splits}
            return LOAD("parquet", data_files=files, streaming=True, cache_dir=str(tmp_path / "cache"))

        monkeypatch.setattr(hub_data, "reach_hub", lambda: None)
        monkeypatch.setattr(datasets, "load_dataset", load)

    return put


def glue(rows: int, classes: list[int]) -> datasets.Dataset:
    features = datasets.Features(
        {
            "sentence1": datasets.Value("string"),
            "sentence2": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["not_equivalent", "equivalent"]),
            "idx": datasets.Value("int32"),
        }
    )
    columns = {"sentence1": [f"one {k} of {rows}" for k in range(rows)], "sentence2": [f"two {k}" for k in range(rows)]}
    labels = [classes[k % len(classes)] for k in range(rows)]
    return datasets.Dataset.from_dict({**columns, "label": labels, "idx": list(range(rows))}, features)


def test_a_glue_data_set_as_the_hub_has_it(serve: Serve) -> None:
    serve(train=glue(60, [0, 1]), validation_matched=glue(20, [1, 0, -1, 1]), test=glue(30, [-1]))
    data = load_hub("pair", "me/data")
    assert isinstance(data, Dataset)
    assert data.labels == ("equivalent", "not_equivalent")
    assert (data.name, data.kind, len(data.test)) == ("me/data", "pair", 15)
    assert len(data.train) + len(data.validation) == 60
    assert data.test[0].text == "one 0 of 20"
    assert data.test[0].pair == "two 0"
    assert data.labels[data.test[0].label] == "equivalent"
    assert data.notes[0].startswith("5 rows of the split validation_matched have no class")
    assert data.notes[1].startswith("30 rows of the split test have no class")
    assert "The file has no test split, so its validation split is used for the test." in data.notes
    assert load_hub("pair", "me/data") == data  # no second stream: the first is kept


def plain_numbers(rows: int, classes: list[int]) -> datasets.Dataset:
    """A set whose classes are numbers without names, as most uploads of a table have them."""
    texts, labels = [f"text {k} of {rows}" for k in range(rows)], [classes[k % len(classes)] for k in range(rows)]
    return datasets.Dataset.from_dict({"text": texts, "label": labels})


def test_minus_one_is_a_class_where_the_training_rows_have_it(serve: Serve) -> None:
    serve(test=plain_numbers(20, [-1]), train=plain_numbers(60, [-1, 0, 1]))  # a sorted test split is no hidden one
    data = load_hub("sentence", "me/data")
    assert isinstance(data, Dataset)
    assert data.labels == ("-1", "0", "1")
    assert {data.labels[example.label] for example in data.test} == {"-1"}
    assert len(data.train) + len(data.validation) + len(data.test) == 80
    assert not any("no class" in note for note in data.notes)


def test_minus_one_in_an_only_split_is_a_class_too(serve: Serve) -> None:
    serve(train=plain_numbers(60, [-1, 1]))
    assert load_hub("sentence", "me/data").labels == ("-1", "1")


def test_a_test_split_of_nothing_but_minus_one_is_hidden_where_training_has_other_classes(serve: Serve) -> None:
    serve(train=plain_numbers(60, [0, 1]), validation=plain_numbers(20, [0, 1]), test=plain_numbers(30, [-1]))
    data = load_hub("sentence", "me/data")
    assert data.labels == ("0", "1")
    assert data.notes[0].startswith("30 rows of the split test have no class")


def rated(rows: int, score: Callable[[int], float]) -> datasets.Dataset:
    """STS-B as GLUE has it: the score is a short float under the name "label"."""
    text, number = datasets.Value("string"), datasets.Value("float32")
    features = datasets.Features({"sentence1": text, "sentence2": text, "label": number})
    rated_rows = [{"sentence1": f"one {k} of {rows}", "sentence2": f"two {k}", "label": score(k)} for k in range(rows)]
    return datasets.Dataset.from_list(rated_rows, features)


def test_scores_are_as_they_were_written_and_hidden_ones_left_out(serve: Serve) -> None:
    tenths = {f"one {k} of 60": k % 51 / 10 for k in range(60)}
    serve(train=rated(60, lambda k: k % 51 / 10), validation=rated(30, lambda k: k % 6), test=rated(20, lambda k: -1))
    data = load_hub("similarity", "me/data")
    assert isinstance(data, SimilarityDataset)
    assert {pair.first: pair.score for pair in (*data.train, *data.validation)} == tenths  # 3.8, not 3.799999952
    assert len(data.test) == 30
    assert data.notes[0] == "20 rows of the split test have no score on the Hub and are not used."


def test_lists_of_endings_and_an_only_split(serve: Serve) -> None:
    rows = [{"ctx": f"It rains {k}.", "endings": [f"a{k}", f"b{k}", f"c{k}"], "label": str(k % 3)} for k in range(40)]
    serve(validation=datasets.Dataset.from_list(rows))
    data = load_hub("choice", "me/data")
    assert isinstance(data, ChoiceDataset)
    assert data.choices == 3
    assert {e.endings[e.label][0] for e in data.test} <= set("abc")
    assert len(data.train) + len(data.validation) + len(data.test) == 40
    assert any("drawn for the test split" in note for note in data.notes)


def test_several_columns_are_one_text_and_html_is_taken_out(serve: Serve) -> None:
    rows = [{"head": f"Film {k}", "body": f"<b>{'good' if k % 2 else 'bad'}</b>", "is": k % 2} for k in range(40)]
    serve(train=datasets.Dataset.from_list(rows))
    chosen = "text=head,text=body,label=is"
    data = load_hub("sentence", "me/data", columns=chosen)
    assert {example.text for example in (*data.train, *data.test)} <= {
        f"Film {k} <b>{('bad', 'good')[k % 2]}</b>" for k in range(40)
    }
    data = load_hub("sentence", "me/data", columns=f"{chosen},html=removed")
    assert {example.text for example in data.test} <= {f"Film {k} {('bad', 'good')[k % 2]}" for k in range(40)}
    look = look_at_hub("me/data", "sentence", f"{chosen},html=removed")
    assert (look.rows, look.labels, look.sure) == (40, {"0": 20, "1": 20}, True)
    assert look.marked == tuple(f"Film {k} <b>{('bad', 'good')[k % 2]}</b>" for k in range(40))


def test_columns_of_marks_are_labels(serve: Serve) -> None:
    marks = ("toxic", "rude", "mild")
    rows = [
        {"id": f"{k:05}", "remark": f"some words of {k}"} | {name: k >> at & 1 for at, name in enumerate(marks)}
        for k in range(80)
    ]
    serve(train=datasets.Dataset.from_list(rows))
    data = load_hub("labels", "me/data")
    assert isinstance(data, MultiLabelDataset)
    assert data.labels == tuple(sorted(marks))
    texts = {f"some words of {k}": {marks[at] for at in range(3) if k >> at & 1} for k in range(80)}
    for example in (*data.train, *data.validation, *data.test):
        assert {data.labels[label] for label in example.labels} == texts[example.text]


def test_unclear_columns_are_shown_and_read_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"one": f"a film of words {k}", "two": f"other longer words {k}", "label": k % 2} for k in range(40)]
    serve(train=datasets.Dataset.from_list(rows))
    look = look_at_hub("me/data", "sentence")
    assert look.problem == "The text may be the column 'one' or 'two'; choose which it is."
    assert look.mapping is not None
    assert [cells[0] for _, cells in look.mapping.rows[:2]] == ["a film of words 0", "a film of words 1"]
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: pytest.fail("fetched again"))
    with pytest.raises(UnclearError, match="may be the column"):
        load_hub("sentence", "me/data")
    picker = column_html("sentence", "hub", None, None, "me/data", "", 1_500, 0)
    assert re.findall(r'<select data-column="(\w+)"', picker) == ["one", "two", "label"]
    assert "may be the column" in picker


def test_class_numbers_in_lists_are_names_too(serve: Serve) -> None:
    tags = datasets.List(datasets.ClassLabel(names=["O", "B-PER"]))
    features = datasets.Features({"tokens": datasets.List(datasets.Value("string")), "ner_tags": tags})
    serve(train=datasets.Dataset.from_dict({"tokens": [["Jim", "ran"]], "ner_tags": [[1, 0]]}, features))
    columns = (Column("tokens", ("tokens",), kind="json"), Column("tags", ("tags", "ner_tags"), kind="json"))
    (record,) = hub_data.fetch("me/data", columns).records
    assert record.values == {"tokens": ["Jim", "ran"], "tags": ["B-PER", "O"]}


def test_no_more_rows_than_fit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_data, "MAX_ROWS", 40)
    serve(train=glue(100, [0, 1]))
    data = load_hub("pair", "me/data")
    assert len(data.train) + len(data.validation) + len(data.test) == 40
    assert data.notes[0] == "Only the first 40 rows of the split train are used."


def test_text_in_lists_counts_too(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"tokens": [["word " * 100] * 3] * 20, "ner_tags": [["O", "O", "O"]] * 20}
    serve(train=datasets.Dataset.from_dict(columns))
    monkeypatch.setattr(hub_data, "MAX_HELD", 20_000)  # of 30,000 characters in 60 words
    with pytest.raises(UserError, match="more text than the limit of 20,000 characters"):
        load_hub("entities", "me/data")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("sentence", "No column is named text; the first row has 'only', 'label'."),
        ("choice", "No columns contain a context and its endings"),
        ("juggling", "no task called 'juggling'"),
    ],
)
def test_other_columns_are_told(serve: Serve, kind: str, told: str) -> None:
    serve(train=datasets.Dataset.from_dict({"only": [1] * 6, "label": ["a", "b"] * 3}))
    with pytest.raises(UserError, match=told):
        load_hub(kind, "me/data")


@pytest.mark.parametrize(
    "name",
    ["", "imdb", "../x", "/etc/passwd", "a/..", "a/b/c", "hf://x/y", "buckets/x", "a/b:", "ä/b", None, "a/" * 99],
)
def test_what_is_no_name_is_refused_before_anything_is_asked(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_data, "reach_hub", lambda: pytest.fail("asked"))
    with pytest.raises(UserError, match="is not the name of a data set"):
        load_hub("pair", name)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (datasets.exceptions.DatasetNotFoundError("no"), "no public data set called me/data"),
        (
            ValueError("Config name is missing.\nPlease pick one among the available configs: ['cola', 'mrpc']\nE"),
            "me/data has several configurations; add one after a colon: cola, mrpc.",
        ),
        (ValueError("BuilderConfig 'x' not found. Available: ['cola']"), "after a colon: cola"),
        (RuntimeError("Dataset scripts are no longer supported, but found data.py"), "of a program"),
        (OSError("torn\ncable"), "me/data could not be read from the Hub just now."),
    ],
)
def test_what_the_hub_refuses_is_one_sentence(
    raised: Exception, told: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()

    def refuse(*_: Any, **__: Any) -> None:
        raise raised

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(UserError, match=told) as refused:
        load_hub("pair", "me/data")
    assert "\n" not in str(refused.value)
    assert not hub_data._Fetch._known  # tried again the next time


def test_offline_is_a_sentence_at_once_and_a_silent_network_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_data, "REACH_SECONDS", 120.0)
    began = time.monotonic()
    with pytest.raises(UserError, match="Hub could not be reached"):  # HF_HUB_OFFLINE, as in all tests
        load_hub("pair", "me/data")
    assert time.monotonic() - began < hub_data.REACH_SECONDS
    released = threading.Event()
    monkeypatch.setattr(hub_data, "REACH_SECONDS", 0.1)
    monkeypatch.setattr(hub_data, "reach_hub", lambda: released.wait(60) or None)
    for name in ("me/one", "me/two"):
        with pytest.raises(UserError, match="Hub could not be reached"):
            load_hub("pair", name)
    with pytest.raises(UserError, match="Other data sets are being downloaded"):
        load_hub("pair", "me/three")
    released.set()


def test_a_slow_data_set_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    monkeypatch.setattr(hub_data, "SECONDS", 0.3)

    def drip(_: str, __: Any, **___: Any) -> Any:
        def rows() -> Iterator[dict[str, Any]]:
            for k in itertools.count():
                time.sleep(0.02)
                yield {"sentence1": f"{k}", "sentence2": "x", "label": "a"}

        return {"train": rows()}

    monkeypatch.setattr(datasets, "load_dataset", drip)
    with pytest.raises(UserError, match="could not be downloaded from the Hub within 0 seconds"):
        load_hub("pair", "me/data")
    for thread in threading.enumerate():
        if thread.name == "hub me/data":
            thread.join(timeout=60)
            assert not thread.is_alive()  # nobody reads on
