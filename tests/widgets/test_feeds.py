"""A curve's questions: answered with what it lacks, for the run it names alone, and only while that is under way."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from demos.training.events import Epoch, Event, Failed, Resumed, Started, Step, Waiting, Watched
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import PUBLIC, CurveFeed, Watcher, shown_now


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


def test_who_waits_may_watch_the_run_that_is_on_but_not_its_data() -> None:
    """Curve and recipe: no name of a data set or a class, no watched example, no id by which it could be stopped."""
    told = Watcher(("SECRET class",), lambda place: ("SECRET text", 0), lambda place, answer: answer)
    axes = {"data": "SECRET.tsv", "legend": {"train": "SECRET legend"}}
    on = CurveFeed("SECRET id", "SECRET.tsv", "examples", axes, told, "MiniLM, 3 epochs")
    mine = CurveFeed("mine", "my data", recipe="MiniLM, 1 epoch")
    mine.take(Waiting(1, 130.0))
    feeds = Feeds()
    with feeds.showing("SECRET id", on), feeds.showing("mine", mine):
        none = json.loads(feeds.news(["mine", 0, 0, 0, 0]))
        assert (none["run"], none["shows"], none["waiting"], none["steps"]) == ("mine", 0, True, [])
        for event in secret_events():
            on.take(event)
        first = feeds.news(["mine", 0, 0, 0, 0])
        assert "SECRET" not in first
        seen = json.loads(first)
        assert set(seen) <= {*PUBLIC, "run", "done", "waiting", "shows", "steps", "looks", "status", "summary"}
        assert (seen["run"], seen["waiting"], seen["total"]) == ("mine", True, 9)
        assert seen["status"] == "1 run is ahead of yours. Yours should begin in about 2 minutes."
        assert seen["summary"] == "This is the current run: MiniLM, 3 epochs."
        assert [point[0] for point in seen["steps"]] == list(range(1, 10))
        assert len(seen["looks"]) == 1
        later = json.loads(feeds.news(["mine", 7, 1, 0, seen["shows"]]))
        assert ([point[0] for point in later["steps"]], later["looks"]) == ([8, 9], [])
        another = json.loads(feeds.news(["mine", 7, 1, 0, seen["shows"] + 1]))  # the points are of another run
        assert len(another["steps"]) == 9
        assert feeds.news(["mine", 7, 1, 0, {}]) == feeds.news(["mine", 0, 0, 0, 0])
        on.take(Failed("It broke."))
        assert json.loads(feeds.news(["mine", 0, 0, 0, seen["shows"]]))["shows"] == 0
        mine.take(Resumed(1, "asked"))  # it is this one's turn
        own = json.loads(feeds.news(["mine", 0, 0, 0, seen["shows"]]))
        assert "shows" not in own
        assert own["waiting"] is False


def secret_events() -> Iterator[Event]:
    """A run on a reader's own data, whose words are in every event that has words."""
    secret = "always “SECRET label”"
    watched = (0, 1)
    yield Started(("SECRET a", "b"), 1, 1, 1, 0, 9, 3, 1, 1, "accuracy", secret, 0.5, 0.5, "CPU", "float32", 1, watched)
    yield Epoch(0, 0, math.nan, 0.7, 0.4)
    yield Watched(0, ((0.5,), (0.5,)))
    yield from (event for event in events() if isinstance(event, Step))


def test_a_run_that_is_shown_tells_its_curve_and_not_the_examples_that_are_watched() -> None:
    feeds = Feeds()
    watcher = Watcher(("a", "b"), lambda place: (f"SECRET sentence {place}", 0), lambda place, answer: (0.5, 0.5))
    feed = CurveFeed("secret-run", "data", watcher=watcher)
    with feeds.showing("secret-run", feed):
        for event in secret_events():
            feed.take(event)
        assert "SECRET sentence" in feeds.news(["secret-run", 0, 0, 0])  # what its own reader sees
        shown = feeds.shown("secret-run", "name", 7, 0)
    assert [point[0] for point in json.loads(shown)["steps"]] == [8, 9]
    assert json.loads(shown)["run"] == "name"
    assert "SECRET sentence" not in shown + feeds.shown("secret-run", "name", 0, 0)
    assert "secret-run" not in shown
    assert json.loads(feeds.shown("secret-run", "name", 9, 1))["steps"] == []  # also once it is over
    assert feeds.shown("none", "name", 0, 0) == ""


def test_only_a_run_with_a_recipe_to_tell_offers_to_watch() -> None:
    for recipe, offered in (("MiniLM", True), ("", False)):
        feed = CurveFeed("mine", "data", recipe=recipe)
        feed.take(Waiting(1, 10.0))
        assert json.loads(feed.message())["waiting"] is offered


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
