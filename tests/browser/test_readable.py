"""Every part can be read: in a lecture hall from the last row, at a desk, on light and on dark paper."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from demos.lessons import discover
from tests.browser.conftest import stands, visit
from tests.browser.readable import seen

LESSONS = discover()
HALL = 21.6  # pixels of 1080: a fiftieth of the picture's height
DESK = 12
OURS = "reset-button"  # Gradio's arrow that sets a slider back: a sign, no text
LIGHT, DARK = False, True


def opened(
    page: Page, address: str, lesson: Any, *, dark: bool = False, large: bool = False
) -> dict[str, dict[str, Any]]:
    """What can be read of each part of a lesson, by the part's name."""
    visit(page, address)
    stands(page, LESSONS[0].slug)
    page.evaluate(f"insideBert.largeType({str(large).lower()})")
    page.evaluate(f"insideBert.dark({str(dark).lower()})")
    found = {}
    for part in lesson.parts or ("",):
        visit(page, f"{address}/?lesson={lesson.slug}" + (f"&part={part.slug}" if part else ""))
        stands(page, lesson.slug)
        page.wait_for_timeout(1_500)
        found[part.slug if part else lesson.slug] = seen(page)
    return found


def small(parts: dict[str, Any], least: float) -> list[tuple[Any, ...]]:
    """(part, where, text, size) of what is smaller than that."""
    return [
        (part, text["at"], text["said"], round(text["size"], 1))
        for part, found in parts.items()
        for text in found["texts"]
        if text["size"] < least - 0.05 and OURS not in text["at"]
    ]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_in_the_hall_no_text_is_too_small(page: Page, app_url: str, lesson: Any) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    assert small(opened(page, app_url, lesson, large=True), HALL) == []


@pytest.mark.parametrize("dark", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_at_a_desk_text_is_large_and_strong_enough(page: Page, app_url: str, lesson: Any, dark: bool) -> None:
    parts = opened(page, app_url, lesson, dark=dark)
    assert small(parts, DESK) == []
    pale = [
        (part, text["at"], text["said"], round(text["contrast"], 2))
        for part, found in parts.items()
        for text in found["texts"]
        if text["contrast"] < (3 if text["large"] else 4.5) and not text["disabled"]
    ]
    assert pale == []
    faint = [
        (part, mark["at"], round(mark["contrast"], 2))
        for part, found in parts.items()
        for mark in found["marks"]
        if mark["contrast"] < 3
    ]
    assert faint == []
