"""The curves of the runs under way, for all their readers: each asks for new points by its run's id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from demos.widgets.live_curve.live_curve import CurveFeed

MOST_POINTS = 10**6  # that a page may say it has


class Feeds:
    """Who has a run's id, which nobody can guess, may ask for its curve as long as the run is under way."""

    def __init__(self) -> None:
        self._under_way: dict[str, CurveFeed] = {}

    @contextmanager
    def showing(self, run: str, feed: CurveFeed) -> Iterator[None]:
        """While this lasts, `news` answers for the run."""
        self._under_way[run] = feed
        try:
            yield
        finally:
            self._under_way.pop(run, None)

    def news(self, asked: Any) -> str:
        """The curve's question: [run, steps, looks, watched], how many points of each it has; "" for no such run."""
        try:
            run, *have = asked
            steps, looks, watched = (min(max(0, int(count)), MOST_POINTS) for count in have)
            feed = self._under_way.get(str(run))
        except (TypeError, ValueError, OverflowError):
            return ""
        return feed.news(steps, looks, watched) if feed else ""
