"""Text is set in our fonts, wherever it stands, so that the page is as wide on every machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from demos.lessons import discover
from tests.browser.conftest import QUIET, stands, visit
from tests.browser.events import StillServer

LESSONS = discover()
TABS = """() => [...document.querySelectorAll("#lesson-links a, #lessons .parts [role=tab]")]
    .filter((tab) => tab.checkVisibility()).map((tab) => [tab.textContent.trim(), tab.getBoundingClientRect().width])"""
# What a machine would have whose only font is this one; letters stand at fractions of a pixel, as on ours.
ONE_FONT = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{cache}</cachedir>
<selectfont><rejectfont><glob>*.*</glob></rejectfont><acceptfont><glob>*Mono*</glob></acceptfont></selectfont>
<match target="font"><edit name="hinting" mode="assign"><bool>false</bool></edit></match></fontconfig>"""


def test_a_frame_is_handed_the_font(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention")
    page.wait_for_selector("#attention-heads iframe[data-drawn]")
    frame = next(frame for frame in page.frames if "frame.html" in frame.url)
    frame.wait_for_function("document.fonts.check('16px Inter') && [...document.fonts].length === 1")
    family = frame.evaluate("getComputedStyle(document.querySelector('#vis text')).fontFamily")
    assert family.startswith("Inter,")


def test_the_strips_of_tabs_are_as_wide_on_a_machine_with_another_font(
    page: Page, app_url: str, chromium: str, tmp_path: Path, turn_to: Callable[..., None]
) -> None:
    fonts = tmp_path / "fonts.conf"
    fonts.write_text(ONE_FONT.format(folder="/usr/share/fonts", cache=tmp_path / "cache"), encoding="utf-8")
    # Playwright's own loop runs in this thread already: its second browser is started by the first one's type.
    other = page.context.browser.browser_type.launch(  # type: ignore[union-attr]
        executable_path=chromium,
        args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *QUIET],
        env={"FONTCONFIG_FILE": str(fonts)},
    )
    try:
        there = other.new_page(viewport={"width": 1280, "height": 800})
        plain = "<p style='font: 20px sans-serif; position: absolute'>illicit little fillet</p>"
        widths = []
        for one in (page, there):
            one.set_content(plain)
            widths.append(one.evaluate("document.querySelector('p').getBoundingClientRect().width"))
        assert widths[1] > 1.1 * widths[0]  # that machine's font is another one
        for one in (page, there):
            StillServer(one, stopped=True)  # the rows are there before anything is drawn
            visit(one, f"{app_url}/?lesson={LESSONS[0].slug}")
            stands(one, LESSONS[0].slug)
        for lesson in LESSONS:
            tabs = []
            for one in (page, there):
                turn_to(one, lesson.slug)
                one.evaluate("document.fonts.ready")
                tabs.append(one.evaluate(TABS))
            assert len(tabs[0]) >= len(LESSONS)
            assert tabs[0] == tabs[1]
    finally:
        other.close()
