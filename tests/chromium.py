"""Which Chromium tests and benchmarks drive."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (  # of macOS and Windows, which have it on no path
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)


def find_chromium() -> str | None:
    """The system's, or the one named by CHROMIUM in the environment; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, (*NAMES, *PLACES))), None)
