"""Runs that go on without a page: in separate threads, followed by pages with their id, found by their reader.

A page that is reloaded follows on. A run that no page follows is stopped, and keeps its model: soon if another run
waits in the line, else after ten minutes.
"""

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger(__name__)
Changes = dict[str, Any]  # a run's outputs on the page, by name

BEAT_SECONDS = 6.0  # between two messages to a follower, at which a closed page is noticed
GRACE_SECONDS = 20.0  # without a page, if other runs wait: a page takes some seconds to reload
ALONE_SECONDS = 600.0  # and if no other run waits
MAX_OVER = 64  # runs whose end is remembered
MAX_OVER_SECONDS = 3_600.0


@dataclass
class _Run:
    reader: str
    part: str
    stop: Callable[[], None]
    is_awaited: Callable[[], bool]
    news: threading.Condition = field(default_factory=threading.Condition)
    state: dict[str, tuple[Any, int]] = field(default_factory=dict)  # the newest value of each name, and its number
    count: int = 0  # of changes so far
    followers: int = 0
    left_at: float = field(default_factory=time.monotonic)  # when the last follower left
    over: bool = False
    stopped: bool = False

    @property
    def alone_for(self) -> float:
        """Seconds without a follower."""
        return 0.0 if self.followers else time.monotonic() - self.left_at


class Background:
    """All runs under way, and the last ones over. Safe for many threads."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}  # in the order of their beginnings
        self._lock = threading.Lock()

    def start(
        self,
        run: str,
        reader: str,
        part: str,
        work: Iterator[Changes],
        stop: Callable[[], None],
        is_awaited: Callable[[], bool] = lambda: False,
    ) -> None:
        """Begin `work` in a thread; each of its changes reaches all followers. It must report its own failures.

        `stop` requests its end, `is_awaited` says whether another run waits for the machine. A reader has one run a
        part: the one before it is forgotten.
        """
        new = _Run(reader, part, stop, is_awaited)
        with self._lock:
            over = {name: other for name, other in self._runs.items() if other.over}
            before = [name for name, other in over.items() if (other.reader, other.part) == (reader, part)]
            late = [name for name, other in over.items() if other.alone_for > MAX_OVER_SECONDS]
            for name in {*before, *late, *list(over)[: max(0, len(over) - MAX_OVER)]}:
                del self._runs[name]
            self._runs[run] = new
        context = contextvars.copy_context()  # ZeroGPU knows by it for whom a GPU is borrowed
        threading.Thread(target=context.run, args=(self._work, new, work), name="run", daemon=True).start()

    def _work(self, run: _Run, work: Iterator[Changes]) -> None:
        try:
            for changes in work:
                with run.news:
                    run.count += 1
                    run.state |= {name: (value, run.count) for name, value in changes.items()}
                    run.news.notify_all()
                limit = GRACE_SECONDS if run.is_awaited() else ALONE_SECONDS
                if not run.stopped and run.alone_for > limit:
                    run.stopped = True
                    run.stop()
        except Exception:
            log.exception("a run broke")
        finally:
            with run.news:
                run.over = True
                run.news.notify_all()

    def follow(self, run: str) -> Iterator[Changes]:
        """Yield the run's changes so far, then the new ones; {} now and then; ends with it. Nothing if unknown."""
        followed = self._runs.get(run)
        if followed is None:
            return
        followed.followers += 1
        try:
            seen, over = 0, False
            while not over:
                with followed.news:
                    if not followed.over and followed.count == seen:
                        followed.news.wait(BEAT_SECONDS)
                    changes = {name: value for name, (value, number) in followed.state.items() if number > seen}
                    seen, over = followed.count, followed.over
                if changes or not over:
                    yield changes
        finally:
            followed.left_at = time.monotonic()
            followed.followers -= 1

    def newest(self, reader: str, part: str) -> str:
        """The id of the reader's run in this part: under way, or over and remembered; "" where there is none."""
        with self._lock:
            mine = [name for name, run in self._runs.items() if (run.reader, run.part) == (reader, part)]
        return mine[-1] if mine and reader else ""

    def is_under_way(self, run: str) -> bool:
        """Whether it is still at work."""
        known = self._runs.get(run)
        return known is not None and not known.over

    @property
    def is_busy(self) -> bool:
        """Whether any run is still at work."""
        return any(not run.over for run in list(self._runs.values()))

    def stop_all(self) -> None:
        """Request the end of every run that is at work."""
        for run in list(self._runs.values()):
            if not run.over:
                run.stopped = True
                run.stop()

    def state(self, run: str) -> Changes:
        """The newest value of everything that the run has changed."""
        known = self._runs.get(run)
        return {} if known is None else {name: value for name, (value, _) in list(known.state.items())}

    def forget(self, run: str) -> None:
        """Let go of a run that is over: its reader has turned to something else. Unknown ids are fine."""
        with self._lock:
            known = self._runs.get(run)
            if known is None or not known.over:
                return
            del self._runs[run]
