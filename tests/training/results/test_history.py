"""What is remembered of a run, what differs between runs, the CSV, and whether a difference is more than chance."""

import csv
import io
import json
import pickle
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from demos.training.data.splits import Splits
from demos.training.events import Epoch, Finished, Outcome, Result, Started, Step
from demos.training.loop import train
from demos.training.results.history import MAX_STEPS, Record, as_csv, differences, record_from, record_of
from demos.training.results.paired import other_test, same_test
from demos.training.settings import Settings
from demos.training.sources import SOURCES
from demos.training.tasks.classification.data import Dataset


@pytest.fixture(scope="module")
def record(dataset: Dataset, base: Path, quick: Settings, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Of a whole run."""
    made, result = run_record(dataset, base, quick, tmp_path_factory.mktemp("run") / "kept")
    assert isinstance(result, Result)
    assert made.right.count("1") / len(made.right) == pytest.approx(result.accuracy)
    assert made.right.count("0") == len(result.mistakes)
    return made


def run_record(
    dataset: Splits, base: Path, settings: Settings, folder: Path, kind: str = "sentence"
) -> tuple[Record, Outcome]:
    """What is remembered of a run, and its result."""
    events = list(train(dataset, base, settings, folder))
    started = next(event for event in events if isinstance(event, Started))
    ended = events[-1]
    assert isinstance(ended, Finished)
    steps = [[one.step, one.loss, one.score] for one in events if isinstance(one, Step)]
    looks = [
        [one.step, one.train_loss, one.validation_loss, one.validation_score]
        for one in events
        if isinstance(one, Epoch)
    ]
    made = record_of("id", 1, "Tiny", kind, dataset, settings, started, ended.result, steps, looks)
    return made, ended.result


@pytest.mark.parametrize("name", SOURCES)
def test_a_record_of_each_task_comes_back_from_json(name: str, base: Path, quick: Settings, tmp_path: Path) -> None:
    source = SOURCES[name]
    settings = replace(quick, epochs=1, trains="head", max_length=32)
    made, _ = run_record(source.load(0, 40), base, settings, tmp_path / "run", source.kind)
    assert record_from(json.loads(json.dumps(asdict(made), allow_nan=False))) == made


def with_settings(record: Record, **changes: Any) -> Record:
    return replace(record, number=record.number + 1, settings={**record.settings, **changes})


def test_a_run_is_remembered_whole_and_can_be_pickled(record: Record, dataset: Dataset, quick: Settings) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
    assert record.settings == asdict(quick)
    assert record.headline[0] == "accuracy"
    assert record.examples == (len(dataset.train), len(dataset.validation), len(dataset.test))
    assert len(record.right) == len(dataset.test)
    assert [epoch for epoch, *_ in record.looks] == pytest.approx([0, 0.5, 1, 1.5, 2], abs=0.1)
    assert record.curve[-1][0] == 2
    assert record.steps == record.total_steps == len(record.curve)
    assert 0 < record.trainable < record.parameters


def test_a_long_curve_is_thinned_to_means(record: Record, dataset: Dataset, quick: Settings) -> None:
    started = Started(("a", "b"), 8, 2, 2, 0, 1_000, 100, 10, 10, "accuracy", "", 0.5, 0.5, "CPU", "float32", 1)
    result = Result(
        ("a", "b"), 0.5, 0.5, "a", 0.5, ((1, 1), (1, 1)), (),
        loss=1.0, steps=1_000, seconds=1.0, examples_per_second=1.0, folder="",
    )  # fmt: skip
    steps = [[step, float(step)] for step in range(1, 1_001)]
    made = record_of("id", 1, "m", "sentence", dataset, quick, started, result, steps, [], "time")
    assert len(made.curve) == MAX_STEPS
    assert made.curve[0] == (0.05, 3.0)  # the mean of steps 1 to 5, where the fifth is
    assert made.curve[-1] == (10, 998)
    assert made.right == ""  # a result without answers
    assert made.stopped == "time"


def test_only_choices_that_act_differ(record: Record) -> None:
    assert differences([record]) == ()
    assert differences([record, with_settings(record, threads=2, max_seconds=9.0)]) == ()
    assert differences([record, with_settings(record, lora_rank=4)]) == ()  # nothing is trained by LoRA here
    assert differences([record, with_settings(record, learning_rate=1e-5, seed=3)]) == ("learning_rate", "seed")
    lora = with_settings(record, trains="lora")
    assert set(differences([record, lora])) == {"trains", "lora_rank", "frozen_embeddings"}
    assert differences([record, replace(record, data="other", model="big")]) == ("model", "data")


def test_the_csv_reads_back_and_holds_no_formula(record: Record) -> None:
    evil = replace(record, number=2, data='=HYPERLINK("x")', model="@sum, \n+1", metrics={"MCC": -0.25})
    written = as_csv([record, evil])
    first, second = csv.DictReader(io.StringIO(written, newline=""))
    assert written.count("\r\n") == 3
    assert float(first["test accuracy"]) == record.metrics["accuracy"]
    assert first["learning_rate"] == "0.003"
    assert second["data"] == '\'=HYPERLINK("x")'
    assert second["model"] == "'@sum, \n'+1"
    assert float(second["test MCC"]) == -0.25  # a number stays a number
    assert second["test accuracy"] == ""
    assert set(asdict(Settings())) < set(first)
    assert as_csv([]) == ""


def test_two_runs_on_the_same_examples_are_compared_as_the_exact_binomial_does() -> None:
    first, second = "1" * 20 + "0" * 12 + "1" * 3, "1" * 20 + "1" * 12 + "0" * 3
    found = same_test(first, second)
    assert (found.only_first, found.only_second) == (3, 12)
    assert found.p == pytest.approx(binomtest(3, 15, 0.5).pvalue)
    assert same_test("1010", "1010").p == 1
    assert same_test("10", "01").p == 1
    with pytest.raises(ValueError, match="shorter"):
        same_test("111", "11")


def test_two_runs_on_other_examples_have_newcombes_interval() -> None:
    # Newcombe 1998, table II, case (a): 56/70 - 48/80, method 10.
    found = other_test(48 / 80, 80, 56 / 70, 70)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


@pytest.mark.parametrize(
    ("data", "cell"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("\t@SUM(A1)", "'\t'@SUM(A1)"),
        ("films;=1+1", "films;'=1+1"),
        ("films; -1+1;+2", "films;' -1+1;'+2"),
        ("films\t=1+1", "films\t'=1+1"),
        ("films\n@x", "films\n'@x"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("a-b=c+d@e; f", "a-b=c+d@e; f"),
    ],
)
def test_no_part_of_a_cell_is_a_formula(record: Record, data: str, cell: str) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv([replace(record, data=data)]), newline=""))
    assert row["data"] == cell
