"""The live curve's messages: only new points travel, none is lost, and the words say what the drawing shows."""

from __future__ import annotations

import json
import math

import pytest

from demos.page.curve import MAX_POINTS, CurveFeed, duration, idle_message
from demos.training.data import load_emotion
from demos.training.events import Epoch, Failed, Finished, Result, Started, Step, Stopped, Waiting


def started(steps: int) -> Started:
    return Started(("a", "b"), 1, 1, 1, 0, steps, steps, 1, 1, "accuracy", "always “a”", 0.5, "CPU", "float32", 1)


def step(number: int, total: int) -> Step:
    return Step(number, total, number / total, 1 / number, 0.5, 1e-4, 1.0, 50.0, 61.4)


def run(total: int, every: int) -> list[str]:
    feed = CurveFeed("me", "data")
    messages = []
    for event in (started(total), Epoch(0, 0, math.nan, 0.7, 0.4)):
        assert feed.take(event)
        messages.append(feed.message())
    for number in range(1, total + 1):
        assert not feed.take(step(number, total))
        if number % every == 0:
            messages.append(feed.message())
    feed.take(Failed("The end."))
    return [*messages, feed.message()]


def test_any_one_message_may_be_lost() -> None:
    messages = [json.loads(message) for message in run(97, 5)]
    expected = [[number, round(1 / number, 4), 0.5] for number in range(1, 98)]
    for lost in range(2, len(messages) - 1):
        seen = {point[0]: point for k, message in enumerate(messages[:-1]) if k != lost for point in message["steps"]}
        assert all(seen[number] == expected[number - 1] for number in range(1, 91))
    assert messages[-1]["steps"] == expected
    assert messages[-1]["looks"] == [[0, None, 0.7, 0.4]]
    assert messages[-1]["done"]
    assert messages[-1]["status"] == "The end."


def test_only_new_points_travel() -> None:
    messages = run(1_000, 10)
    drawn_anew = sum(len(json.dumps([[k, 0.1234, 0.5] for k in range(n * 10)])) for n in range(100))
    assert sum(map(len, messages)) < 0.15 * drawn_anew
    assert len(json.loads(messages[-1])["steps"]) <= MAX_POINTS


def test_the_words_beside_the_drawing() -> None:
    feed = CurveFeed("me", "data")
    feed.take(Waiting(2))
    assert "you are number 2 in the queue" in json.loads(feed.message())["status"]
    feed.take(started(4))
    feed.take(step(1, 4))
    said = json.loads(feed.message())["status"]
    assert said.startswith("Step 1 of 4 · learning rate 1.0e-04 · 50 sentences/s · about 1 min 1 s left")
    feed.take(Epoch(4, 1.0, 0.5, 0.25, 0.75))
    assert json.loads(feed.message())["summary"] == "After 1 epoch: validation loss 0.25, validation accuracy 75%."


def test_before_a_run_the_axes_hold_what_guessing_reaches() -> None:
    message = json.loads(idle_message(load_emotion(), 1 / 6))
    assert message["guess"] == pytest.approx(math.log(6), abs=1e-4)
    assert message["baseline"] == pytest.approx(1 / 6, abs=1e-4)
    assert message["steps"] == message["looks"] == []


def test_the_end_names_the_data_and_cannot_close_a_script() -> None:
    feed = CurveFeed("me", "</script>")
    result = Result(("a", "b"), 0.9, 0.8, 0.1, "a", 0.5, ((1, 0), (0, 1)), (), 12, 75.0, 40.0, "")
    feed.take(Finished(result))
    message = feed.message()
    assert "</" not in message
    assert json.loads(message)["status"] == "Trained after 12 steps and 1 min 15 s on </script> (40 sentences/s)."
    assert json.loads(message)["summary"].startswith(
        "It is right on 90% of the test sentences; always answering “a” is"
    )
    feed.take(Stopped(result, "time"))
    assert json.loads(feed.message())["status"].startswith("Out of time after 12 steps")


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "0 s"), (59.4, "59 s"), (80, "1 min 20 s"), (-1, "0 s")])
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told
