"""GLUE's nine tasks as the Hub has them: columns, metric and id of each, and no other data taken for one of them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import datasets
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from demos.errors import UserError
from demos.training.data import hub_data
from demos.training.data.benchmarks import GLUE, GlueTask, data_id, glue_task, metric_of, positive_class
from demos.training.events import Finished, Started
from demos.training.loop import train
from demos.training.results.history import Record, record_of
from demos.training.results.published import boards, own_rows
from demos.training.settings import Settings
from demos.training.sources import SOURCES, load_file, load_hub

# The classes' names on the Hub, in the order of their numbers.
CLASSES = {
    "cola": ("unacceptable", "acceptable"), "sst2": ("negative", "positive"), "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"), "mnli": ("entailment", "neutral", "contradiction"),
    "qnli": ("entailment", "not_entailment"), "rte": ("entailment", "not_entailment"),
    "wnli": ("not_entailment", "entailment"),
}  # fmt: skip
WORDS = ("good", "bad", "plain", "slow", "red", "wet")  # one a class
ROWS = {"train": 60, "validation": 31, "test": 20}
Serve = Callable[[str, Mapping[str, datasets.Dataset]], None]


def table(task: GlueTask, split: str) -> datasets.Dataset:
    """Rows with this task's columns; the words tell the class, but for some; a hidden test split has -1."""
    rows, names = ROWS[split.partition("_")[0]], CLASSES.get(task.config)
    hidden = split.startswith("test") and task.config != "mrpc"  # whose test split has its labels on the Hub
    classes = len(names) if names else 6
    labels = [k % 7 % classes for k in range(rows)]
    columns: dict[str, list[Any]] = {
        column: [f"{WORDS[label]} {column} {k} {split}" for k, label in enumerate(labels)] for column in task.columns
    }
    label = datasets.ClassLabel(names=list(names)) if names else datasets.Value("float32")
    features = datasets.Features({**dict.fromkeys(columns, datasets.Value("string")), "label": label})
    return datasets.Dataset.from_dict({**columns, "label": [-1] * rows if hidden else labels}, features)


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Put a data set on a Hub that is in reach: written as Parquet, streamed as from there."""
    load_dataset = datasets.load_dataset
    hub_data._Fetch._known.clear()

    def put(config: str, splits: Mapping[str, datasets.Dataset]) -> None:
        files = {split: str(tmp_path / f"{split}.parquet") for split in splits}
        for split, data in splits.items():
            data.to_parquet(files[split])

        def load(address: str, wanted: str | None, *, streaming: bool, token: bool) -> Any:
            assert (address, wanted, streaming, token) == ("hf://datasets/nyu-mll/glue", config, True, False)
            return load_dataset("parquet", data_files=files, streaming=True, cache_dir=str(tmp_path / "cache"))

        monkeypatch.setattr(hub_data, "reach_hub", lambda: None)
        monkeypatch.setattr(datasets, "load_dataset", load)

    yield put
    hub_data._Fetch._known.clear()


def splits_of(task: GlueTask) -> dict[str, datasets.Dataset]:
    """Those of the Hub: MNLI has two of validation and two of test."""
    pairs = ("_matched", "_mismatched") if task.config == "mnli" else ("",)
    names = ["train", *(f"{split}{pair}" for split in ("validation", "test") for pair in pairs)]
    return {name: table(task, name) for name in names}


@pytest.mark.parametrize("task", GLUE, ids=lambda task: task.title)
def test_a_run_on_a_task_of_glue_has_its_metric_and_its_column(
    task: GlueTask, serve: Serve, base: Path, tmp_path: Path
) -> None:
    serve(task.config, splits_of(task))
    dataset: Any = load_hub(task.kind, task.hub)
    split = {"mrpc": "test", "mnli": task.tested or "validation_matched"}.get(task.config, "validation")
    assert dataset.source == f"nyu-mll/glue:{task.config}:{split}"
    assert len(dataset.test) == ROWS[split.partition("_")[0]]
    settings = Settings(epochs=1, batch_size=16, learning_rate=3e-3, max_length=24, threads=1)
    events = list(train(dataset, base, settings, tmp_path / "run"))
    started, finished = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    result: Any = finished.result
    assert started.metric == next(iter(result.metrics)) == task.metric
    if task.kind == "similarity":
        gold, predicted = ([getattr(pair, name) for pair in result.answers] for name in ("gold", "predicted"))
        expected = {task.metric: spearmanr(gold, predicted)[0], task.beside[0]: pearsonr(gold, predicted)[0]}
    else:
        targets = [dataset.labels[example.label] for example in dataset.test]
        answers = [dataset.labels[max(range(len(row)), key=row.__getitem__)] for row in result.answers]
        expected = {"accuracy": accuracy_score(targets, answers), "MCC": matthews_corrcoef(targets, answers)}
        if task.positive:
            expected[task.metric] = f1_score(targets, answers, pos_label=task.positive)
            assert list(result.metrics)[1] == "accuracy"
        most = result.majority_label
        if task.metric == "MCC":
            assert started.baseline_score == 0
        elif task.positive:
            always = f1_score(targets, [most] * len(targets), pos_label=task.positive)
            assert started.baseline_score == pytest.approx(always)
    for name, value in expected.items():
        assert result.metrics[name] == pytest.approx(value), name
    record = record_of("r", 1, "tiny", task.kind, dataset, settings, started, result, [], [])
    assert record.headline == (task.metric, pytest.approx(expected[task.metric]))
    board = boards()["GLUE"]
    scores = shown(record, board)
    assert scores == ({} if task.title == "WNLI" else {task.title: pytest.approx(100 * expected[task.metric])})


def shown(record: Record, board: Any) -> dict[str, float]:
    """What a board has of a run, by column."""
    rows = own_rows(board, [record])
    named = [zip(board.columns, row.values, strict=True) for row in rows]
    return {column.name: value for row in named for column, value in row if value is not None}


def test_the_metrics_of_the_boards_are_those_of_the_runs() -> None:
    columns = {column.name: column for column in boards()["GLUE"].columns}
    for task in GLUE:
        if task.title != "WNLI":
            assert columns[task.title].metric == task.metric
            assert all(data.startswith(f"nyu-mll/glue:{task.config}:") for data in columns[task.title].data[:1])
    for board in boards().values():
        for column in board.columns:
            assert bool(column.data) == bool(column.metric), column
            assert all(data.count(":") == 2 and "/" in data and data == data.lower() for data in column.data), column


def test_ids_are_exact() -> None:
    assert data_id("rajpurkar/squad", None, "validation") == "rajpurkar/squad::validation"
    assert data_id("me/names", "default", "test") == "me/names::test"
    assert metric_of("nyu-mll/glue:cola:validation") == "MCC"
    for other in ("", "cola", "shorter.csv", "me/cola::test", "nyu-mll/glue:colab:validation", "emotion"):
        assert glue_task(other) is None
        assert metric_of(other) == "accuracy"
    assert positive_class("nyu-mll/glue:mrpc:test", ("equivalent", "not_equivalent")) == "equivalent"
    assert positive_class("nyu-mll/glue:mrpc:test", ("0", "1")) == ""
    assert positive_class("", ("0", "1")) == "1"
    assert positive_class("", ("bad", "good")) == ""


def test_a_file_is_no_data_set_whatever_its_name(tmp_path: Path) -> None:
    for name in ("shorter.csv", "traces.csv", "cola.csv", "glue-rte.csv"):
        file = tmp_path / name
        file.write_text("text,label\n" + "".join(f"sentence {k} of it,{k % 2}\n" for k in range(60)), encoding="utf-8")
        assert load_file("sentence", file).source == ""
    for key, source in SOURCES.items():
        assert source.load(0, 50).source == key


def test_a_split_to_test_on_that_is_not_there(serve: Serve) -> None:
    task = next(task for task in GLUE if task.title == "RTE")
    serve("rte", splits_of(task))
    with pytest.raises(
        UserError, match="There is no split 'dev' to test on; beside the training split there are: 'val"
    ):
        load_hub("pair", "nyu-mll/glue:rte:dev")
    with pytest.raises(UserError, match="no split 'train' to test on"):
        load_hub("pair", "nyu-mll/glue:rte:train")
    data = load_hub("pair", "nyu-mll/glue:rte:validation")
    assert (data.source, len(data.test)) == ("nyu-mll/glue:rte:validation", 31)
    assert data.name == "nyu-mll/glue:rte:validation"
