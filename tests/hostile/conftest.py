"""What the real app has written into its log."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest


@pytest.fixture
def logged(app_url: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """logged() is what the app has written since this test began."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    log = folder / "app.log"
    before = log.stat().st_size
    return lambda: log.read_bytes()[before:].decode(errors="replace")
