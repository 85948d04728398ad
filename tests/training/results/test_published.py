"""Published results: whole rows, known sources, means that add up, and one's own runs where data and metric fit."""

import re
from dataclasses import asdict, replace

import pytest

from demos.lessons.finetune.published.part import board_html
from demos.lessons.finetune.runs.part import sample
from demos.training.data.benchmarks import positive_class
from demos.training.metrics import ACCURACY, SPEARMAN, f1_of
from demos.training.results.history import record_from
from demos.training.results.published import Board, boards, own_rows
from demos.training.sources import SOURCES
from tests.one_line import one_line


@pytest.mark.parametrize("board", boards().values(), ids=lambda board: board.name)
def test_every_row_is_whole(board: Board) -> None:
    for row in board.rows:
        assert len(row.values) == len(board.columns), row
        assert all(value is None or 20 <= value <= 100 for value in row.values), row
        assert any(value is not None for value in row.values), row
    assert len({(row.system, row.source) for row in board.rows}) == len(board.rows)


def test_race_is_a_chart_too() -> None:
    """Each figure is a bar of its length, with a line at what guessing gets; no other board has bars."""
    for board in boards().values():
        drawn = board_html(board, [])
        bars = re.findall(r'class="charted" style="--score:([\d.]+);--guessing:([\d.]+)">\s*(?:<b>)?([\d.]+)', drawn)
        assert len(bars) == (len(board.rows) if board.name == "RACE" else 0)
        assert all(float(score) == float(written) and guessing == "25" for score, guessing, written in bars)


def test_the_means_of_glue_are_those_of_their_rows() -> None:
    for row in boards()["GLUE"].rows:
        *tasks, mean = row.values
        known = [value for value in tasks if value is not None]
        assert (mean is None) == (len(known) < len(tasks))
        assert mean is None or mean == pytest.approx(sum(known) / len(known), abs=0.07)


def test_sources_that_disagree_have_a_row_each() -> None:
    glue, swag = boards()["GLUE"], boards()["SWAG"]
    qnli = [column.name for column in glue.columns].index("QNLI")
    assert {row.values[qnli] for row in glue.rows if row.system == "BERT large"} == {92.7, 91.1}
    assert {row.values[1] for row in swag.rows if row.system == "GPT"} == {78.0, 75.0}


def test_own_runs_stand_where_data_and_metric_fit() -> None:
    sst2 = "nyu-mll/glue:sst2:validation"
    run = replace(sample()[1], source=sst2, model="<b>mine</b>", metrics={"accuracy": 0.8731, "MCC": 0.7})
    board = boards()["GLUE"]
    (row,) = own_rows(board, [sample()[0], run])
    scores = {column.name: value for column, value in zip(board.columns, row.values, strict=True) if value is not None}
    assert scores == {"SST-2": pytest.approx(87.31)}
    drawn = board_html(board, [row])
    assert "87.3" in drawn
    assert "&lt;b&gt;mine" in drawn
    assert "<b>94.9</b>" in drawn  # the largest published one
    second = replace(run, source="rajpurkar/squad_v2::validation", metrics={"exact match": 0.5, "token F1": 0.6})
    assert not own_rows(boards()["SQuAD 1.1"], [second])
    assert own_rows(boards()["SQuAD 2.0"], [second])[0].values == (50.0, 60.0, None, None)


def test_runs_on_our_own_data_stand_apart() -> None:
    ours = replace(sample()[1], number=7, source="paraphrase", data="Paraphrases", metrics={f1_of("paraphrase"): 0.75})
    theirs = replace(ours, number=8, source="nyu-mll/glue:mrpc:test", metrics={f1_of("equivalent"): 0.9})
    board = boards()["GLUE"]
    rows = own_rows(board, [ours, theirs])
    assert [(row.other_data, max(filter(None, row.values))) for row in rows] == [("", 90.0), ("Paraphrases", 75.0)]
    shown = one_line(board_html(board, rows))
    assert "your run 7: " in shown
    assert shown.count("on our own “Paraphrases”") == 1
    assert "can’t be compared" in shown
    assert "can’t be compared" not in board_html(board, rows[:1])
    assert "your run appears here" in board_html(board, [])


def test_our_own_data_are_known_and_so_are_their_metrics() -> None:
    known = {ACCURACY, SPEARMAN, "entity F1", "exact match", "token F1"}
    for board in boards().values():
        for column in board.columns:
            for key, metric in column.like.items():
                labels = getattr(SOURCES[key].load(0, 100), "labels", None) or ()
                assert metric in known | {f1_of(positive_class(key, labels))}


@pytest.mark.parametrize("data", ["shorter.csv", "traces.csv", "cola.csv", "my squad.json", "nyu-mll/glue:rte"])
def test_no_run_on_a_file_stands_on_a_board_whatever_the_files_name(data: str) -> None:
    run = replace(sample()[1], data=data, metrics={"accuracy": 0.9, "MCC": 0.8, "exact match": 0.7, "entity F1": 0.6})
    assert run.source == ""
    assert not any(own_rows(board, [run]) for board in boards().values())


def test_a_run_on_other_rows_of_the_same_data_set_stands_nowhere() -> None:
    for source in ("nyu-mll/glue:rte:", "nyu-mll/glue:rte:train", "me/rte::validation", "emotion"):
        assert not own_rows(boards()["GLUE"], [replace(sample()[1], source=source, metrics={"accuracy": 0.9})])


def test_a_run_that_was_kept_before_data_sets_had_ids_is_read() -> None:
    plain = asdict(sample()[0])
    del plain["source"]
    assert record_from(plain) == sample()[0]
