"""A curve's questions: answered with what it lacks, for the run it names alone, and only while that is under way."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from demos.training.events import Epoch, Event, Started, Step, Waiting
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed, shown_now


def events() -> Any:
    yield from (Waiting(2, 20.0), Waiting(2, 20.0), Waiting(1, 10.0))
    yield Started(("a", "b"), 1, 1, 1, 0, 9, 3, 1, 1, "accuracy", "always “a”", 0.5, 0.5, "CPU", "float32", 1)
    yield Epoch(0, 0, math.nan, 0.7, 0.4)
    for number in range(1, 10):
        yield Step(number, 9, number / 3, 1 / number, 0.5, 1e-4, 1.0, 50.0, 61.4)


def test_who_asks_gets_what_is_new_of_that_run_and_nothing_of_another() -> None:
    feeds, mine, other = Feeds(), CurveFeed("mine", "data"), CurveFeed("other", "data")
    for event in events():
        mine.take(event)
    with feeds.showing("mine", mine), feeds.showing("other", other):
        told = json.loads(feeds.news(["mine", 7, 1, 0]))
        assert (told["run"], told["done"]) == ("mine", False)
        assert [point[0] for point in told["steps"]] == [8, 9]
        assert told["looks"] == []
        assert json.loads(feeds.news(["mine", -5, 0, 0]))["looks"] == [[0, None, 0.7, 0.4]]
        assert json.loads(feeds.news(["other", 0, 0, 0]))["steps"] == []
    assert feeds.news(["mine", 0, 0, 0]) == ""


@pytest.mark.parametrize(
    "asked", [None, 5, "", [], ["mine"], ["mine", 0, 0], ["mine", "x", 0, 0], ["mine", math.inf, 0, 0], [{}, 0, 0, 0]]
)
def test_a_forged_question_is_answered_by_nothing(asked: Any) -> None:
    feeds = Feeds()
    with feeds.showing("mine", CurveFeed("mine", "data")):
        assert feeds.news(asked) == ""


def test_few_events_are_messages_since_the_curve_asks() -> None:
    shown: list[Event] = list(shown_now(events(), CurveFeed("mine", "data"), 60.0))
    assert [type(event) for event in shown] == [Waiting, Waiting, Started]  # each place in the line once
    assert len(list(shown_now(events(), CurveFeed("mine", "data"), 0.0))) == 14
