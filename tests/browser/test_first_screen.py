"""What a visitor has before their eyes: each part's picture begins high, on a laptop, on a projector, on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from demos.lessons import discover
from tests.browser.conftest import stands, visit

SIZES = {  # (width, height, large type, the lowest that a picture may begin)
    "laptop": (1280, 800, False, 260),
    "projector": (1920, 1080, True, 350),  # 260 at large type's zoom of 1.35
    "phone": (390, 844, False, 700),
}
PARTS = [(lesson.slug, [part.slug for part in lesson.parts]) for lesson in discover()]
# The top of the first picture of the open part; -1 where it has none, or none that is seen.
TOP = """(part) => {
    const scope = part ? document.getElementById(part) : document.querySelector('.lesson');
    const tops = [...scope.querySelectorAll('.picture'), ...(scope.matches('.picture') ? [scope] : [])]
        .filter((picture) => picture.checkVisibility() && picture.getBoundingClientRect().height > 20)
        .map((picture) => picture.getBoundingClientRect().top + scrollY);
    return tops.length ? Math.round(Math.min(...tops)) : -1;
}"""


@pytest.fixture(params=SIZES)
def screen(request: pytest.FixtureRequest, browser: Browser, app_url: str) -> Iterator[tuple[Page, str, int]]:
    """(a tab, the app's address, the lowest that a picture may begin) on a screen of this size."""
    width, height, large, lowest = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(40_000)
    if large:
        context.add_init_script("localStorage.setItem('inside-bert', JSON.stringify({ large: true }))")
    yield context.new_page(), app_url, lowest
    context.close()


def test_each_picture_begins_high(screen: tuple[Page, str, int]) -> None:
    page, url, lowest = screen
    tops: dict[str, int] = {}
    wide: list[str] = []
    for lesson, parts in PARTS:
        visit(page, f"{url}/?lesson={lesson}")
        stands(page, lesson)
        for part in parts or [""]:
            name = f"{lesson}-{part}" if part else ""
            if part:
                page.locator(f"#{name}-button").click()
            page.wait_for_function(f"(part) => ({TOP})(part) >= 0", arg=name)
            page.wait_for_timeout(400)  # what comes late must not push it down
            tops[name or lesson] = page.evaluate(TOP, name)
            if name == "attention-heads" and page.viewport_size["width"] > 1000:  # the lines beside the heads
                tops[f"{name} lines"] = page.evaluate(TOP, "attention-frame")
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(name or lesson)
    table = "\n".join(f"{top:5} {name}" for name, top in sorted(tops.items(), key=lambda item: -item[1]))
    assert max(tops.values()) <= lowest, f"pictures that begin below {lowest}, of all:\n{table}"
    assert wide == []


def test_the_keyboard_is_soon_there(page: Page, app_url: str) -> None:
    """The first Tab is the way past the bar: from there the first head and Start are near."""
    for lesson, part, found, most in (
        ("attention", "heads", "document.activeElement.closest('#attention-grid') !== null", 8),
        ("finetune", "train", "document.activeElement.id === 'finetune-start'", 10),
    ):
        visit(page, f"{app_url}/?lesson={lesson}")
        stands(page, lesson)
        page.wait_for_function(f"({TOP})('{lesson}-{part}') >= 0")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        pressed = 1
        while not page.evaluate(found) and pressed <= most:
            page.keyboard.press("Tab")
            pressed += 1
        assert pressed <= most, lesson


def test_the_model_note_opens_on_focus_and_on_a_press(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/?lesson=tokens")
    stands(page, "tokens")
    note, button = page.locator("#model-note"), page.locator("#bar-status button")
    assert not note.is_visible()
    button.click()
    note.wait_for(state="visible")
    page.keyboard.press("Escape")
    note.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false"
    page.locator("#bar-model input").focus()
    page.keyboard.press("Tab")
    note.wait_for(state="visible")
    page.keyboard.press("Tab")
    note.wait_for(state="hidden")
