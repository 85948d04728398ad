"""Several labels on the page: the outcome's own numbers, bars of their own for each probability, texts escaped."""

import json
import re

import pytest

from demos.training.metrics import calibration
from demos.training.sources import SOURCES
from demos.training.tasks.multi_label.data import LabelledSentence, MultiLabelDataset
from demos.training.tasks.multi_label.scores import marks_of, score_labels
from demos.training.tasks.multi_label.task import LabelMistake, MultiLabel, MultiLabelResult, decisions
from demos.widgets.live_curve.live_curve import idle_message
from demos.widgets.tasks.multi_label.view import SHOWN_CHANCES, MultiLabelView
from tests.one_line import flat
from tests.plotly_figure import plotly

VIEW = MultiLabelView()
NASTY = "<img src=x onerror=alert(1)>"
LABELS = ("food", f"{NASTY}", "price")
ANSWERS = ((0.9, 0.2, 0.6), (0.1, 0.7, 0.3), (0.2, 0.1, 0.4), (0.8, 0.9, 0.9))
TRUE = ((0, 2), (0, 1), (), (0, 1))
PREDICTED = ((0, 2), (1,), (), (0, 1, 2))


@pytest.fixture
def result() -> MultiLabelResult:
    return MultiLabelResult(
        loss=0.455, steps=3, seconds=1.0, examples_per_second=5.0, folder="", labels=LABELS,
        scores=score_labels(marks_of(TRUE, 3), marks_of(PREDICTED, 3)), baseline=f"“{LABELS[1]}”", baseline_f1=0.25,
        usual="no label", usual_accuracy=0.25, wrong=2, sentences=4, unlabelled=1, answers=ANSWERS,
        mistakes=(LabelMistake(NASTY, TRUE[1], PREDICTED[1], ANSWERS[1]), LabelMistake("b", (), (2,), (0.1, 0.2, 0.9))),
        calibration=calibration(*decisions(ANSWERS, TRUE)),
    )  # fmt: skip


def test_scores_name_both_baselines(result: MultiLabelResult) -> None:
    shown = flat(VIEW.scores(result, True))
    assert f"<b>{result.scores.micro_f1:.3f}</b>micro F1" in shown
    assert f"<b>{result.scores.macro_f1:.3f}</b>macro F1" in shown
    assert "<b>50.0%</b>subset accuracy" in shown
    assert "<b>0.250</b>micro F1 of always predicting" in shown
    assert "<b>25.0%</b>subset accuracy of always predicting no label" in shown
    assert "4 test sentences" in shown
    assert "1 of them has no label" in shown
    assert "stopped early" in shown
    assert "<img" not in shown


def test_the_picture_and_its_table_count_each_label(result: MultiLabelResult) -> None:
    found, missed, wrong = plotly(VIEW.figure(result)).data
    assert (list(found.x), list(missed.x), list(wrong.x)) == ([2, 2, 1], [1, 0, 0], [0, 0, -1])
    assert [trace.name for trace in (found, missed, wrong)] == ["found: 5", "missed: 1", "predicted wrongly: 1"]
    assert "<img" not in json.dumps(VIEW.figure(result), default=list)
    numbers = flat(VIEW.numbers(result, [[0, None, 0.7, 0.1], [4, 0.6, 0.5, 0.5]], 4))
    assert "<td>–</td><td>0.700</td><td>0.100</td>" in numbers
    rows = re.findall(r"<td>([\d.]+)</td><td>([\d.]+)</td><td>([\d.]+)</td><td>3</td><td>2</td><td>1</td>", numbers)
    assert rows == [("1.000", "0.667", "0.800")]
    assert "Calibration" in numbers
    assert "<img" not in numbers


def test_mistakes_show_both_sets_with_their_probabilities(result: MultiLabelResult) -> None:
    shown = flat(VIEW.mistakes(result))
    assert "2 in total" in shown
    assert "food (10%)" in shown
    assert "no label</td><td>price (90%)" in shown
    assert "<img" not in shown
    none = MultiLabelResult(**{**vars(result), "mistakes": (), "wrong": 0})
    assert "All labels of all test sentences are correct." in VIEW.mistakes(none)


def test_each_probability_has_a_bar_of_its_own() -> None:
    task = MultiLabel(LABELS)
    shown = flat(VIEW.answer(task, (0.9, 0.2, 0.6), [NASTY]))
    assert re.findall(r"<td>([\d.]+)%</td>", shown) == ["90.0", "60.0", "20.0"]  # more than 100 together
    assert re.findall(r"width:([\d.]+)%", shown) == ["90.0", "60.0", "20.0"]
    assert "<b>food, price</b>" in shown
    assert shown.count("<tr class=first>") == 2
    assert "need not add up to 100%" in shown
    assert "<img" not in shown
    assert "<b>none</b>" in VIEW.answer(task, (0.1, 0.2, 0.3), ["a"])
    many = MultiLabel(tuple(f"label {k}" for k in range(30)))
    shown = flat(VIEW.answer(many, [0.4 - k / 100 for k in range(30)], ["a"]))
    assert shown.count("<tr") == SHOWN_CHANCES
    assert f"{30 - SHOWN_CHANCES} less likely labels are not shown" in shown
    assert flat(VIEW.answer(many, [0.6] * 30, ["a"])).count("<tr") == 30  # none that is given is left out


def test_the_data_is_told_with_its_sets() -> None:
    train = (LabelledSentence(NASTY, (0, 1)), LabelledSentence("b", (0, 1)), LabelledSentence("c", (2,)))
    data = MultiLabelDataset("Mine", train, train[:1], train[1:], (NASTY,), labels=LABELS)
    shown = flat(VIEW.data(data, None))
    assert "3 sentences for training, 1 for validation, 2 for the final test" in shown
    assert re.findall(r"</span>(\d)</td>", shown) == ["2", "2", "1"]
    assert "(2)" in shown
    assert "price (1)" in shown
    assert "<img" not in shown
    ours = SOURCES["restaurants"].load(0, 1_500)
    assert "no label (22)" in flat(VIEW.data(ours, None))
    assert VIEW.watcher(data) is None


def test_the_dashed_line_is_a_coins_loss() -> None:
    baseline = ("always all 3 labels", 0.5)
    assert json.loads(idle_message("micro F1", baseline, 3, None, "binary cross-entropy"))["guess"] == 0.6931
    assert json.loads(idle_message("micro F1", baseline, 3, None, "weighted binary cross-entropy"))["guess"] is None
    assert json.loads(idle_message("accuracy", baseline, 3))["guess"] == 1.099
