"""Runs without a page: followed by many, found again, left alone and stopped, forgotten within bounds."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from demos.training.service import background as module
from demos.training.service.background import Background, Changes


class Work:
    """A run that says what the test hands it, until it is told to end."""

    def __init__(self) -> None:
        self.said: list[Changes] = []
        self.news = threading.Condition()
        self.ended = False
        self.asked_to_stop = threading.Event()

    def say(self, **changes: Any) -> None:
        with self.news:
            self.said.append(changes)
            self.news.notify_all()

    def end(self) -> None:
        with self.news:
            self.ended = True
            self.news.notify_all()

    def changes(self) -> Iterator[Changes]:
        while True:
            with self.news:
                self.news.wait_for(lambda: self.ended or self.said, 10)
                new, self.said, over = self.said, [], self.ended
            yield from new
            if over:
                return

    def start(self, background: Background, run: str, reader: str = "reader", **more: Any) -> None:
        background.start(run, reader, "part", self.changes(), self.asked_to_stop.set, **more)


def until(true: Any) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def background() -> Background:
    return Background()


def test_who_comes_late_is_told_all_and_then_what_is_new(background: Background) -> None:
    work = Work()
    work.start(background, "run")
    work.say(curve=1, button="on")
    until(lambda: background.state("run") == {"curve": 1, "button": "on"})
    early = background.follow("run")
    assert next(early) == {"curve": 1, "button": "on"}
    work.say(curve=2)
    assert next(early) == {"curve": 2}
    late = background.follow("run")
    assert next(late) == {"curve": 2, "button": "on"}
    work.say(curve=3, over=True)
    work.end()
    assert [*early] == [*late] == [{"curve": 3, "over": True}]
    assert [*background.follow("run")] == [{"curve": 3, "button": "on", "over": True}]  # a page loaded afterwards
    assert [*background.follow("another")] == []
    assert not work.asked_to_stop.is_set()


def test_who_leaves_ends_nothing_and_the_reader_finds_the_run(background: Background) -> None:
    work = Work()
    work.start(background, "run")
    work.say(curve=1)
    page = background.follow("run")
    next(page)
    page.close()  # type: ignore[attr-defined]
    assert background.newest("reader", "part") == "run"
    assert background.is_under_way("run")
    for reader, part in (("another", "part"), ("reader", "elsewhere"), ("", "part")):
        assert background.newest(reader, part) == ""
    background.forget("run")  # which only forgets what is over
    assert background.is_under_way("run")
    work.end()
    until(lambda: not background.is_under_way("run"))
    assert background.newest("reader", "part") == "run"
    background.forget("run")
    assert background.newest("reader", "part") == ""
    assert background.state("run") == {}


@pytest.mark.parametrize(("awaited", "limit"), [(True, "GRACE_SECONDS"), (False, "ALONE_SECONDS")])
def test_a_run_that_nobody_follows_is_stopped_sooner_where_others_wait(
    background: Background, monkeypatch: pytest.MonkeyPatch, awaited: bool, limit: str
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 1_000.0)
    monkeypatch.setattr(module, "ALONE_SECONDS", 1_000.0)
    work = Work()
    work.start(background, "run", is_awaited=lambda: awaited)
    work.say(step=1)
    page = background.follow("run")
    assert next(page) == {"step": 1}
    monkeypatch.setattr(module, limit, 0.0)
    work.say(step=2)
    assert next(page) == {"step": 2}
    assert not work.asked_to_stop.is_set()  # for it is followed
    page.close()  # type: ignore[attr-defined]
    time.sleep(0.01)
    work.say(step=3)
    assert work.asked_to_stop.wait(10)
    work.say(kept=True)  # what it learned
    work.end()
    until(lambda: background.state("run").get("kept"))


def test_a_beat_lets_a_page_that_is_gone_be_noticed(background: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.01)
    work = Work()
    work.start(background, "run")
    assert next(background.follow("run")) == {}
    work.end()


def test_what_breaks_is_over_for_who_follows(background: Background, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Iterator[Changes]:
        yield {"curve": "it broke"}
        raise KeyError("for the log")

    background.start("run", "reader", "part", broken(), lambda: None)
    assert [*background.follow("run")] == [{"curve": "it broke"}]
    until(lambda: not background.is_under_way("run"))
    assert "for the log" in caplog.text


def test_only_so_many_ends_are_remembered_and_one_a_part(
    background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OVER", 3)
    for number in range(6):
        background.start(f"run {number}", f"reader {number}", "part", iter([{"number": number}]), lambda: None)
        until(lambda number=number: not background.is_under_way(f"run {number}"))
    assert [bool(background.state(f"run {number}")) for number in range(6)] == [False, False, True, True, True, True]
    background.start("again", "reader 5", "part", iter([{"number": 7}]), lambda: None)
    assert background.state("run 5") == {}
    assert background.newest("reader 5", "part") == "again"


def test_at_the_end_all_that_work_are_asked_to_stop(background: Background) -> None:
    works = [Work() for _ in range(3)]
    for number, work in enumerate(works):
        work.start(background, f"run-{number}", reader=f"reader-{number}")
    works[0].end()
    until(lambda: not background.is_under_way("run-0"))
    background.stop_all()
    assert [work.asked_to_stop.is_set() for work in works] == [False, True, True]
    assert background.is_busy
    for work in works[1:]:
        work.end()
    until(lambda: not background.is_busy)
