"""What is said below the scores of a run that has learned nothing, and that it names controls of the page."""

from typing import Any

import pytest

from demos.lessons.finetune.train import controller
from demos.lessons.finetune.train.beside_scores import nothing_html
from demos.lessons.finetune.train.choices import SETTINGS
from demos.training.export.run_log import read_log
from demos.training.results.learned_nothing import CONTROLS, LearnedNothing
from tests.lessons.finetune.bare_page import Bare
from tests.lessons.finetune.room import Room

NOTHING = LearnedNothing(
    "The model gives all test sentences the class “<img src=x>”.", ("the rate is high",), (("lower", "learning_rate"),)
)


def test_a_class_can_do_no_harm_in_it() -> None:
    html = nothing_html(NOTHING)
    assert "&lt;img src=x&gt;" in html
    assert "<img" not in html
    assert "The likeliest reason is that the rate is high. Under “All controls”, lower “Learning rate”." in html
    assert nothing_html(None) == ""


def test_the_controls_are_called_as_on_the_page(bare: Bare) -> None:
    assert {field: bare.page.choices[SETTINGS[field]].label for field in CONTROLS} == CONTROLS


def test_it_is_below_the_scores_and_in_the_log(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for verdict in (None, NOTHING):
        seen: list[Any] = []

        def judge(*of_run: Any, verdict: Any = verdict, seen: list[Any] = seen) -> LearnedNothing | None:
            seen.append(of_run)
            return verdict

        monkeypatch.setattr(controller, "learned_nothing", judge)
        *_, last = room.start("films")
        log = read_log(room.trainings.runs.folder(last["kept"]))
        assert log is not None
        assert log.learned_nothing == (NOTHING.evidence if verdict else "")
        ((dataset, settings, started, result, losses, looks),) = seen
        assert (len(dataset.train), settings.epochs, len(losses)) == (started.train, 1, result.steps)
        assert looks[-1][0] == result.steps
        assert last["scores"].count('class="notice"') == bool(verdict)
        assert last["scores"].partition('class="notice"')[0].count("macro F1") > 0
