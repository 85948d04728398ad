"""The curves of the runs under way, for all their readers: each requests new points by its run's id."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from demos.bert.model.once_cache import Recent
from demos.widgets.live_curve.live_curve import CurveFeed

MOST_POINTS = 10**6  # that a page may say it has
MOST_ENDED = 16  # curves of finished runs, for readers who watched them


class Feeds:
    """The curves by their runs' ids: anyone who has an id, which nobody can guess, may fetch its curve while the run is
    under way.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, tuple[int, CurveFeed]] = {}
        self._ended: Recent[CurveFeed] = Recent(MOST_ENDED)
        self._numbers = count(1)  # marks that distinguish runs for readers who may not have their ids

    @contextmanager
    def showing(self, run: str, feed: CurveFeed) -> Iterator[None]:
        """While this lasts, `news` answers for the run."""
        self._under_way[run] = next(self._numbers), feed
        try:
            yield
        finally:
            self._ended.put(run, feed)
            self._under_way.pop(run, None)

    def shown(self, run: str, name: str, steps: int, looks: int) -> str:
        """A run's curve for other readers, under `name`, with its points since a count; "" for none."""
        on = self._under_way.get(run)
        feed = on[1] if on else self._ended.get(run)
        return feed.shown_as(name, steps, looks) if feed else ""

    def news(self, question: Any) -> str:
        """The answer to the curve's request: [run, steps, looks, watched], how many points of each it has; "" for no
        such run.

        A reader who waits but prefers to watch the current run also sends the number of the run whose points the page
        has, 0 for none.
        """
        try:
            run, steps, looks, example_points, *shows = question
            have = [min(max(0, int(points)), MOST_POINTS) for points in (steps, looks, example_points)]
            _, feed = self._under_way[str(run)]
        except (TypeError, ValueError, OverflowError, KeyError):
            return ""
        if not shows:
            return feed.news(*have)
        number, other = next((on for on in list(self._under_way.values()) if on[1].is_on), (0, None))
        return feed.watching(other, number, *(have[:2] if shows[0] == number else (0, 0)))
