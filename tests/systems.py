"""What a test needs of the operating system, where not every one has it: skipped elsewhere, in one line."""

from __future__ import annotations

import os
import sys

import pytest

WINDOWS = sys.platform == "win32"

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
needs_sigterm = pytest.mark.skipif(WINDOWS, reason="Windows delivers no SIGTERM")
needs_links = pytest.mark.skipif(WINDOWS, reason="Windows lets not everybody make symbolic links")
needs_users = pytest.mark.skipif(WINDOWS, reason="Windows has no numbers of users and no modes of folders")
