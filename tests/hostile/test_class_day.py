"""A class's mishaps, against the real app: each is told to who made it; the log stays small, without tracebacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hostile.class_day import Troubles
from tests.hostile.wire import call

pytestmark = pytest.mark.slow

MOST_LOG = 20_000  # characters


def test_a_class_leaves_no_traceback(app_url: str, logged: Callable[[], str]) -> None:
    """`python tests/benchmarks hostile` has it go on for longer, beside a class that reads."""
    troubles = Troubles(app_url, seed=16)
    troubles.day(3)
    written = logged()
    assert "Traceback" not in written
    assert len(written) < MOST_LOG
    assert troubles.told["a broken file: answered"] > 0
    assert '"still"' in call(app_url, "tokenize", ["still here", "", ""])
