"""What an open part has for those who can't see, hover or drag, or who set the colours themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

EVERYONE = Path(__file__).with_name("everyone.js").read_text(encoding="utf-8")


def everyone(page: Page, what: str, panel: str = "") -> Any:
    """What this function of everyone.js finds in the panel of this id."""
    return page.evaluate(f"(id) => ({EVERYONE}).{what}(id)", panel)


def lacks(page: Page, panel: str) -> tuple[list[str], int]:
    """(what the panel lacks, a line each; how many figures with a table it has)."""
    found = everyone(page, "figures", panel)
    figures = page.locator(f"#{panel} .figure-table[open]").count()
    found += everyone(page, "figures", panel)
    everyone(page, "find", panel)
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    page.keyboard.press("Tab")  # from here on a focus is one of the keyboard
    for what in ("marks", "moving", "walk"):
        found += everyone(page, what, panel)
    page.emulate_media(forced_colors="none", reduced_motion="no-preference")
    for what in ("dragged", "hovered", "stops"):
        found += everyone(page, what, panel)
    return found, figures
