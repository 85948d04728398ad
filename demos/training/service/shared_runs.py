"""Runs that a reader shows to others, each under a separate name, whose holders may watch it but not stop it."""

import secrets
from collections.abc import Callable

from demos.bert.model.once_cache import Recent

MOST_SHARED = 64


class SharedRuns:
    """Names for runs. `curve` is said by who draws runs: (run, name, steps, looks) -> what came since, or ""."""

    def __init__(self) -> None:
        self._runs: Recent[str] = Recent(MOST_SHARED)  # by name
        self._names: Recent[str] = Recent(MOST_SHARED)  # by run
        self.curve: Callable[[str, str, int, int], str] = lambda *_: ""

    def share(self, run: str) -> str:
        """The name under which others may look at this run, always the same."""
        if (name := self._names.get(run)) is None:
            name = secrets.token_urlsafe(12)
            self._names.put(run, name)
            self._runs.put(name, run)
        return name

    def run_of(self, name: str) -> str:
        """The run of that name; "" where it is not shared."""
        return self._runs.get(name) or ""

    def news(self, name: str, steps: int, looks: int) -> str:
        """The run's curve for who has so many of its points: a message of the live curve's, or ""."""
        run = self.run_of(name)
        return self.curve(run, name, steps, looks) if run else ""
