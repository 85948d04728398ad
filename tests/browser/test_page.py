"""The page itself, in Chromium: the bar, the link, hostile text, every lesson at every size, for every reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from demos.lessons import discover

# Every screen: each lesson, and each part of those that have parts.
VIEWS = [(lesson.slug, part) for lesson in discover() for part in [part.slug for part in lesson.parts] or [""]]
SIZES = [(1920, 1080), (1280, 800), (390, 844)]
SENTENCE = "#bar-text textarea"
# What a person may type, paste or send by accident or design; none may run, and none may break the page.
HOSTILE = [
    "",
    " \t\n ",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "${alert(1)}",
    "{{alert(1)}}",
    "`${alert(1)}`",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "'\"><b>bold</b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "]]>--><!--",
    "[CLS] [SEP] [MASK] [PAD] [UNK]",
    "##ing ## ### #",
    "\u0000\u0001\u0007\u001b[31m",
    "\u202eright to left override\u202c",
    "\u200b\u200c\u200d\ufeff",
    "e\u0301" * 300,
    "a" * 5_000,
    "word " * 3_000,
    "x" * 20_001,
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f3f3\ufe0f\u200d\U0001f308" * 20,
    "\u4e2d\u6587\u5206\u8bcd \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "%s%n%x %00 ../../../../etc/passwd",
    "'; DROP TABLE tokens; --",
    '{"__type__": "update", "value": "<b>x</b>"}',
    "\\u003cscript\\u003ealert(1)",
    "=cmd|' /C calc'!A0",
    "!" * 600,
]


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_for_query(page: Page, name: str, value: str) -> None:
    page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.search).get(name) === value", arg=[name, value]
    )


def test_the_link_carries_the_view(open_lesson: Callable[..., Page], app_url: str) -> None:
    page = open_lesson("embeddings", text="A linked sentence.", pair="And its pair.")
    expect(page.locator(SENTENCE)).to_have_value("A linked sentence.")
    expect(page.locator("#bar-pair textarea")).to_have_value("And its pair.")
    expect(page.get_by_role("tab", name="Embeddings")).to_have_attribute("aria-selected", "true")
    page.locator(SENTENCE).fill("Changed & <kept>.")
    wait_for_query(page, "text", "Changed & <kept>.")
    page.get_by_role("tab", name="Attention").click()
    wait_for_query(page, "lesson", "attention")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(SENTENCE)).to_have_value("Changed & <kept>.")
    expect(page.get_by_role("tab", name="Attention")).to_have_attribute("aria-selected", "true")


def test_the_browser_remembers_without_a_link(open_lesson: Callable[..., Page], app_url: str) -> None:
    page = open_lesson("tokens")
    page.locator(SENTENCE).fill("Remember this sentence.")
    wait_for_query(page, "text", "Remember this sentence.")
    page.goto("about:blank")
    page.goto(app_url)
    expect(page.locator(SENTENCE)).to_have_value("Remember this sentence.")


def test_nonsense_in_the_link_falls_back_with_a_sentence(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lesson=nowhere&model=%3Cscript%3E&layer=99&head=x&text=still+here")
    expect(page.locator(SENTENCE)).to_have_value("still here")
    expect(page.locator("#bar-status .notice")).to_contain_text("There is no model '<script>' here")
    expect(page.get_by_role("tab", name="Tokens")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#lesson-tokens ol li").first).to_be_visible()


def test_impossible_choices_in_the_link_fall_back(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("finetune", hidden=7, rate="abc", epochs=2.5, pooling="median", dropout=9)
    expect(page.locator("#finetune-cost")).to_contain_text("96 steps")  # the defaults' count
    assert set(query(page)) == {"text", "model", "lesson"}
    page = open_lesson("finetune", hidden=64, epochs=2)
    expect(page.locator("#finetune-cost")).to_contain_text("64 steps")
    assert query(page)["hidden"] == "64"


def test_a_model_out_of_reach_leaves_the_one_before(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens", text="The model stays.")
    expect(page.locator("#bar-status")).to_contain_text("6 layers")
    page.locator("#bar-model input").click()
    page.get_by_role("option", name="BERT tiny").click()
    expect(page.locator("#bar-status .notice")).to_contain_text("could not be fetched", timeout=20_000)
    expect(page.locator("#bar-model input")).to_have_value("MiniLM (bundled)")
    expect(page.locator("#lesson-tokens ol li").first).to_be_visible()


def test_the_example_menu_fills_the_bar(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens")
    before = page.locator(SENTENCE).input_value()
    page.locator("#bar-examples input").click()
    page.get_by_role("option").nth(3).click()
    expect(page.locator(SENTENCE)).not_to_have_value(before)
    wait_for_query(page, "text", page.locator(SENTENCE).input_value())


def test_two_tabs_do_not_mix(context: BrowserContext, app_url: str) -> None:
    first, second = context.new_page(), context.new_page()
    for page, word in ((first, "apple"), (second, "zebra")):
        page.goto(f"{app_url}/?lesson=tokens&text={word}")
        expect(page.locator("#lesson-tokens ol").first).to_contain_text(word)
    first.locator(SENTENCE).fill("apple pie")
    expect(first.locator("#lesson-tokens ol").first).to_contain_text("pie")
    expect(second.locator("#lesson-tokens ol").first).not_to_contain_text("apple")


@pytest.mark.parametrize("lesson", ["tokens", "attention", "embeddings"])
def test_hostile_text_never_runs_and_never_breaks_the_page(open_lesson: Callable[..., Page], lesson: str) -> None:
    page = open_lesson(lesson, text="before")
    page.evaluate("window.alert = (m) => { window.ran = m }")
    # Attention and Embeddings draw slowly: what could run as markup is enough there.
    for number, text in enumerate(HOSTILE if lesson == "tokens" else HOSTILE[2:9]):
        page.locator(SENTENCE).fill(text)
        if number % 6 == 0:
            page.locator("#bar-pair textarea").fill(text[:2_000])
        page.wait_for_timeout(60 if lesson == "tokens" else 260)
    page.locator("#bar-pair textarea").fill("")
    page.locator(SENTENCE).fill("after everything")
    wait_for_query(page, "text", "after everything")
    expect(page.locator(f"#lesson-{lesson} .notice:visible")).to_have_count(0)
    if lesson == "tokens":
        expect(page.locator("#lesson-tokens ol").first).to_contain_text("everything")
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x]").count() == 0


def test_lone_surrogates_do_not_kill_the_page(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens", text="before")
    page.evaluate(
        """() => { const box = document.querySelector('#bar-text textarea');
                   box.value = 'half \\ud83d emoji'; box.dispatchEvent(new Event('input')); }"""
    )
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("half")
    page.locator(SENTENCE).fill("still alive")
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("alive")


def test_too_long_a_text_is_one_sentence_and_loses_nothing(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens", text="kept on the page")
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("kept")
    page.locator(SENTENCE).fill("y" * 20_001)
    notices = page.locator("#lesson-tokens .notice:visible")
    expect(notices).to_have_text("The sentence has 20,001 characters; the limit is 20,000.")
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("kept")


@pytest.mark.parametrize(("lesson", "part"), VIEWS)
def test_every_view_fits_reads_well_for_everyone_and_rests(
    open_lesson: Callable[..., Page], page: Page, lesson: str, part: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "queue/join" in request.url else None)
    text = "Antidisestablishmentarianism <img src=x onerror=alert(1)> sounds unbelievable to the bank manager."
    open_lesson(lesson, text=text, **({"part": part} if part else {}))
    rest(page, asked)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(150)  # what is drawn anew at this size may only then be too wide
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 1, f"{over} px wider than {width} px"
    page.set_viewport_size({"width": 1280, "height": 800})
    for theme in ("light", "dark"):
        page.evaluate("(dark) => insideBert.dark(dark)", theme == "dark")
        serious = serious_faults(page)
        assert not serious, f"{theme}: {json.dumps(serious, indent=1)}"
    rest(page, asked)
    assert page.locator("img[src=x]").count() == 0  # and no dialog, which fails the test by itself


def rest(page: Page, asked: list[str]) -> None:
    """Wait until the page, once drawn, asks the server for nothing more: a handler that wakes itself never ends."""
    for _ in range(24):
        before = len(asked)
        page.wait_for_timeout(300)
        if asked and len(asked) == before:
            return
    pytest.fail(f"{len(asked)} requests and no end")


def serious_faults(page: Page) -> dict[str, list[str]]:
    """axe's serious and critical findings; what is being drawn anew is dimmed for a moment: a fault outlasts that."""
    serious: dict[str, list[str]] = {}
    for _ in range(6):
        page.wait_for_timeout(200)
        found = Axe().run(page, options={"resultTypes": ["violations"], "iframes": False}).response["violations"]
        serious = {
            rule["id"]: [node["html"][:160] for node in rule["nodes"][:3]]
            for rule in found
            if rule["impact"] in {"serious", "critical"}
        }
        if not serious:
            break
    return serious


def test_large_type_and_dark_are_remembered(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens")
    page.get_by_role("button", name="Large type").click()
    dark = page.evaluate("document.body.classList.contains('dark')")
    page.get_by_role("button", name="Dark").click()
    page.reload()
    page.wait_for_selector(SENTENCE)
    expect(page.get_by_role("button", name="Large type")).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("(dark) => document.body.classList.contains('dark') !== dark", arg=dark)


def test_the_keyboard_reaches_bar_and_lessons(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens")
    page.locator(SENTENCE).focus()
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('[id]')?.id || document.activeElement.tagName"))
        if page.evaluate("document.activeElement.getAttribute('role')") == "tab":
            break
    assert page.evaluate("document.activeElement.getAttribute('role')") == "tab", reached
