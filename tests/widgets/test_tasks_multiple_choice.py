"""Multiple choice and pairs on the page: the task's own sequences, the outcome's own numbers, texts escaped."""

import html
import re
from typing import Any

import numpy as np
import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.data.tables import Row
from demos.training.metrics import calibration
from demos.training.tasks.classification.data import build_dataset
from demos.training.tasks.multiple_choice.data import ChoiceDataset, ChoiceExample
from demos.training.tasks.multiple_choice.task import ChoiceMistake, ChoiceResult, MultipleChoice
from demos.widgets.tasks.classification.view import PairView
from demos.widgets.tasks.examples import calibration_table
from demos.widgets.tasks.multiple_choice.view import ChoiceView
from tests.one_line import flat
from tests.plotly_figure import plotly

VIEW, PAIR_VIEW = ChoiceView(), PairView()
NASTY = "<img src=x onerror=alert(1)>${alert(1)}"
CHANCES = ((0.72, 0.1, 0.09, 0.09), (0.2, 0.52, 0.19, 0.09), (0.25, 0.25, 0.26, 0.24), (0.04, 0.05, 0.1, 0.81))
LABELS = (0, 2, 2, 0)


@pytest.fixture
def result() -> ChoiceResult:
    taken = [int(np.argmax(row)) for row in CHANCES]
    wrong = [k for k in range(4) if taken[k] != LABELS[k]]
    return ChoiceResult(
        labels=tuple("ABCD"),
        accuracy=0.5,
        loss=1.0,
        majority_label="C",
        majority_accuracy=0.25,
        margins=tuple(row[at] - max(np.delete(row, at)) for row, at in zip(CHANCES, LABELS, strict=True)),
        mistakes=tuple(
            ChoiceMistake(f"{NASTY} {k}", "And", (NASTY, "b", "c", "d"), LABELS[k], taken[k], CHANCES[k]) for k in wrong
        ),
        steps=3,
        seconds=1.0,
        examples_per_second=5.0,
        folder="",
        answers=CHANCES,
        calibration=calibration([max(row) for row in CHANCES], [k not in wrong for k in range(4)]),
    )


def pieces(shown: str) -> list[str]:
    """The text of each chip."""
    found = re.findall(r'<span class="piece">(.*?)</span></li>', shown)
    return [html.unescape(re.sub(r"<[^>]*>", "", one)) for one in found]


def test_an_item_is_told_as_the_sequences_that_are_trained_on(tiny: LoadedModel) -> None:
    item = ChoiceExample("The kettle whistles.", "She", ("pours tea.", "barks.", "is made of fog.", "sings."), 1)
    data = ChoiceDataset("Endings", (item,) * 9, (item,), (item,), notes=(NASTY,))
    shown = flat(VIEW.data(data, tiny.tokenizer))
    (features,) = MultipleChoice(4).features(tiny.tokenizer, [item], 64)
    rows = [tiny.tokenizer.convert_ids_to_tokens(list(ids)) for ids in features.sequences]
    begun = features.segments[0].count(0)
    assert pieces(shown) == [*rows[0], *(token for row in rows[1:] for token in row[begun:])]
    assert shown.count(f"the same {begun} tokens") == 3
    (right,) = re.findall(r'<li class="is-right"><b class="letter">(.)</b>', shown)
    assert right == "B"
    assert "9 items for training, 1 for validation" in shown
    assert "<img" not in shown


def test_margins_and_scores_are_the_results(result: ChoiceResult) -> None:
    wrong, right = plotly(VIEW.figure(result)).data
    assert (sum(wrong.y), sum(right.y)) == (2, 2)
    assert [float(x) for x, y in zip(wrong.x, wrong.y, strict=True) if y] == pytest.approx([-0.75, -0.35])
    assert [float(x) for x, y in zip(right.x, right.y, strict=True) if y] == pytest.approx([0.05, 0.65])
    shown = flat(VIEW.scores(result, True))
    assert "<b>50.0%</b>accuracy<" in shown
    assert "<b>25.0%</b>accuracy of guessing" in shown
    assert "always choosing ending C" in shown
    assert "on 4 test items" in shown
    assert "stopped early" in shown


def test_mistakes_show_each_ending_with_its_probability(result: ChoiceResult) -> None:
    shown = flat(VIEW.mistakes(result))
    assert shown.count('<table class="chances endings">') == 2
    assert "81.0%" in shown
    assert shown.count('<span class="right">correct</span>') == 2
    assert "2 in total" in shown
    assert "<img" not in shown
    numbers = flat(VIEW.numbers(result, [[0, None, 1.4, 0.25], [9, 1.2, 1.1, 0.5]], 9))
    assert "<td>–</td><td>1.400</td><td>0.250</td>" in numbers
    assert f"error {result.calibration.error:.3f}" in numbers if result.calibration else False
    assert calibration_table(None) == ""


def test_the_answer_to_a_persons_own_endings() -> None:
    shown = VIEW.answer(None, (0.1, 0.6, 0.3), (NASTY, "", f"one\n{NASTY}\nthree"))
    assert "<b>B</b>.</p>" in shown
    assert [float(one) for one in re.findall(r"<td>([\d.]+)%</td>", shown)] == [10, 60, 30]
    assert "<img" not in shown
    with pytest.raises(UserError, match="endings"):
        VIEW.answer(None, (1.0,), ("a", "b", ""))
    assert len(VIEW.boxes[2][1].splitlines()) == 4


def test_a_pair_is_told_as_one_sequence_of_two_segments(tiny: LoadedModel) -> None:
    rows = [Row(k, f"The {k} cats.", "ab"[k % 2], pair=f"{NASTY} {k}") for k in range(30)]
    shown = PAIR_VIEW.data(build_dataset("pairs", rows), tiny.tokenizer)
    found = pieces(shown)
    assert (found[0], found.count("[SEP]"), found[-1]) == ("[CLS]", 2, "[SEP]")
    assert shown.index("segment 0") < shown.index("[SEP]") < shown.index("segment 1")
    assert "<img" not in shown
    task: Any = type("Task", (), {"labels": ("a", "b")})
    assert "90.0%" in PAIR_VIEW.answer(task, (0.1, 0.9), (NASTY, "two"))
