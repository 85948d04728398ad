"""The live curve's messages: only new points travel, none is lost, and the words say what the drawing shows."""

import json
import math
from types import SimpleNamespace

import pytest

from demos.training.events import (
    Epoch,
    Failed,
    Finished,
    Paused,
    Result,
    Started,
    Step,
    Stopped,
    Waiting,
    Watched,
)
from demos.training.metrics import SPEARMAN
from demos.widgets.live_curve import text
from demos.widgets.live_curve.live_curve import MAX_POINTS, CurveFeed, Watcher, duration, idle_message


def started(steps: int, watched: tuple[int, ...] = ()) -> Started:
    loaded = ("accuracy", "always “a”", 0.25, 0.5, "CPU", "float32", 1, watched)
    return Started(("a", "b"), 1, 1, 1, 0, steps, steps, 1, 1, *loaded)


def step(number: int, total: int) -> Step:
    return Step(number, total, number / total, 1 / number, 0.5, 1e-4, 1.0, 50.0, 61.4)


def run(total: int, every: int) -> list[str]:
    feed = CurveFeed("me", "data")
    messages = []
    for event in (started(total), Epoch(0, 0, math.nan, 0.7, 0.4)):
        assert feed.take(event) is isinstance(event, Started)
        messages.append(feed.message())
    for number in range(1, total + 1):
        assert not feed.take(step(number, total))
        if number % every == 0:
            messages.append(feed.message())
    feed.take(Failed("The end."))
    return [*messages, feed.message()]


def test_any_message_but_the_last_may_be_lost() -> None:
    *before, last = map(json.loads, run(97, 5))
    expected = [[number, float(f"{1 / number:.4g}"), 0.5, 1e-4, 1.0] for number in range(1, 98)]
    assert all(message["steps"] == message["looks"] == [] for message in before)  # for those the curve asks
    assert last["steps"] == expected
    assert last["looks"] == [[0, None, 0.7, 0.4]]
    assert (last["done"], last["status"]) == (True, "The end.")


def test_the_last_message_is_bounded_and_the_others_are_small() -> None:
    *before, last = run(1_000, 10)
    assert max(map(len, before)) < 1_000
    assert len(json.loads(last)["steps"]) <= MAX_POINTS


def test_the_words_beside_the_drawing() -> None:
    feed = CurveFeed("me", "data")
    feed.take(Waiting(2, 20.0))
    assert (
        "2 runs are ahead of yours. Yours should begin in less than a minute." in json.loads(feed.message())["status"]
    )
    feed.take(started(4))
    feed.take(step(1, 4))
    said = json.loads(feed.message())["status"]
    assert said.startswith("Step 1 of 4 · learning rate 1e-4 · 50 sentences/s · about 1 min 1 s left")
    feed.take(Epoch(4, 1.0, 0.5, 0.25, 0.75))
    assert json.loads(feed.message())["summary"] == "After 1 epoch: validation loss 0.25, validation accuracy 75%."


def test_before_a_run_the_axes_hold_what_is_to_be_beaten_by_its_name() -> None:
    message = json.loads(idle_message("entity F1", ("each word's most frequent tag", 1 / 6), 6))
    assert message["guess"] == pytest.approx(math.log(6), abs=1e-3)
    assert message["baseline"] == pytest.approx(1 / 6, abs=1e-3)
    assert message["beaten"] == "each word's most frequent tag"
    assert message["legend"]["guess"] == "guessing (loss); each word's most frequent tag (entity F1)"
    assert message["steps"] == message["looks"] == []
    assert message["titles"][1][0] == "Entity F1"
    without = json.loads(idle_message("exact match", ("", math.nan), 0))
    assert (without["baseline"], without["legend"]["guess"]) == (None, "")
    assert "dashed" not in without["status"]


def test_numbers_are_compared_with_their_mean_and_a_correlation_is_no_percentage() -> None:
    message = json.loads(idle_message(SPEARMAN, ("", math.nan), 0, 2.25, "mean squared error"))
    assert (message["guess"], message["guessed"]) == (2.25, "always the mean score")
    assert message["legend"]["guess"] == "always the mean score (loss)"
    assert message["titles"][0] == ["Loss", "mean squared error, lower is better"]
    assert (message["shares"], json.loads(idle_message("accuracy", ("", math.nan), 2))["shares"]) == (False, True)
    assert text.result_text(SimpleNamespace(metrics={SPEARMAN: 0.594})) == "Test Spearman's ρ 0.59."
    assert text.result_text(SimpleNamespace(metrics={"accuracy": 0.594})) == "Test accuracy 59%."


def test_during_a_run_the_dashed_lines_have_the_tasks_own_name_for_them() -> None:
    feed = CurveFeed("me", "data", axes={"legend": {"train": "each batch"}})
    feed.take(started(4))
    told = json.loads(feed.message())
    assert (told["beaten"], told["baseline"]) == ("always “a”", 0.5)
    assert told["guess"] == pytest.approx(math.log(2), abs=1e-3)
    assert told["legend"] == {"train": "each batch", "guess": "guessing (loss); always “a” (accuracy)"}


def test_watched_examples_travel_with_their_looks_only() -> None:
    shown = {3: ("the first </script>", 1), 8: ("the second", 0)}
    watcher = Watcher(("calm", "angry"), shown.__getitem__, lambda place, answer: (answer, 1 - answer))
    feed = CurveFeed("me", "data", watcher=watcher)
    assert feed.take(started(40, (3, 8)))
    assert "examples" not in json.loads(feed.message())
    feed.take(Watched(0, (0.25, 0.123456)))
    message = feed.news(0, 0, 0)
    assert "</" not in message
    found = json.loads(message)
    assert found["series"] == ["calm", "angry"]
    assert found["examples"] == [["the first </script>", 1], ["the second", 0]]
    assert found["watched"] == [[0, [[0.25, 0.75], [0.1235, 0.8765]]]]
    feed.take(step(1, 40))
    assert json.loads(feed.news(0, 0, 1))["watched"] == json.loads(feed.message())["watched"] == []


def test_a_pause_is_told_with_its_end() -> None:
    feed = CurveFeed("me", "data")
    assert feed.take(Paused(7, 90))
    status = json.loads(feed.message())["status"]
    assert status == "Paused after step 7; training continues automatically in 1 min 30 s."


def test_the_end_names_the_data_and_cannot_close_a_script() -> None:
    feed = CurveFeed("me", "</script>")
    result = Result(
        ("a", "b"), 0.9, 0.9, "a", 0.5, ((9, 1), (1, 9)), (),
        loss=0.1, steps=12, seconds=75.0, examples_per_second=40.0, folder="",
    )  # fmt: skip
    feed.take(Finished(result))
    message = feed.message()
    assert "</" not in message
    assert json.loads(message)["status"] == "Trained after 12 steps and 1 min 15 s on </script> (40 sentences/s)."
    told = "Test accuracy 90%; always predicting “a” gives 50%."
    assert json.loads(message)["summary"] == told
    feed.take(Stopped(result, "time"))
    assert json.loads(feed.message())["status"].startswith("Time limit reached after 12 steps")


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "0 s"), (59.4, "59 s"), (80, "1 min 20 s"), (-1, "0 s")])
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told
