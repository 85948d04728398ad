"""The page itself, in Chromium: the bar, the link, what the browser remembers, hostile text."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import BrowserContext, Page, expect

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
MARKUP = HOSTILE[2:9]
IN_LESSONS = "document.activeElement.hasAttribute('data-lesson')"
NO_DIALOG = "window.alert = (m) => { window.ran = m }"


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_for_query(page: Page, name: str, value: str) -> None:
    page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.search).get(name) === value", arg=[name, value]
    )


def test_the_link_carries_the_view_and_the_browser_the_rest(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], context: BrowserContext, app_url: str
) -> None:
    page = open_lesson("embeddings", text="A linked sentence.", pair="And its pair.")
    expect(page.locator(SENTENCE)).to_have_value("A linked sentence.")
    expect(page.locator("#bar-pair textarea")).to_have_value("And its pair.")
    expect(page.get_by_role("link", name="Embeddings")).to_have_attribute("aria-current", "page")
    page.locator(SENTENCE).fill("Changed & <kept>.")
    wait_for_query(page, "text", "Changed & <kept>.")
    turn_to(page, "attention")
    assert urlsplit(page.url).path == "/attention"
    page.get_by_role("button", name="Large type").click()
    dark = page.evaluate("document.body.classList.contains('dark')")
    page.get_by_role("button", name="Dark").click()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(SENTENCE)).to_have_value("Changed & <kept>.")
    expect(page.get_by_role("link", name="Attention")).to_have_attribute("aria-current", "page")

    # another tab, without a link: the browser remembers the sentence, the type and the light
    other = context.new_page()
    other.goto(app_url)
    expect(other.locator(SENTENCE)).to_have_value("Changed & <kept>.")
    for tab in (page, other):
        expect(tab.get_by_role("button", name="Large type")).to_have_attribute("aria-pressed", "true")
        tab.wait_for_function("(dark) => document.body.classList.contains('dark') !== dark", arg=dark)

    # what is typed in one tab stays there
    chips = "#lesson-tokens ol"
    turn_to(page, "tokens")
    turn_to(other, "tokens")
    page.locator(SENTENCE).fill("apple")
    other.locator(SENTENCE).fill("zebra")
    expect(other.locator(chips).first).to_contain_text("zebra")
    expect(page.locator(chips).first).to_contain_text("apple")
    page.locator(SENTENCE).fill("apple pie")
    expect(page.locator(chips).first).to_contain_text("pie")
    expect(other.locator(chips).first).not_to_contain_text("apple")


def test_nonsense_in_the_link_falls_back_with_a_sentence(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lesson=nowhere&model=%3Cscript%3E&layer=99&head=x&text=still+here")
    expect(page.locator(SENTENCE)).to_have_value("still here")
    expect(page.locator("#bar-status .notice")).to_contain_text("There is no model '<script>' here")
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    expect(page.locator("#overview-picture [data-token]").first).to_be_visible()


def test_impossible_choices_in_the_link_fall_back_and_the_others_count(open_lesson: Callable[..., Page]) -> None:
    refused = {"rate": "abc", "epochs": 2.5, "top": 2.5, "pooling": "median", "optimizer": 7, "dropout": 9}
    page = open_lesson("finetune", hidden=64, batch=32, **refused)
    expect(page.locator("#finetune-cost")).to_contain_text("48 steps")  # the default's epochs, of half as many steps
    assert query(page).keys() == {"text", "model", "hidden", "batch"}
    assert query(page)["hidden"] == "64"


def test_the_bar_and_hostile_text(open_lesson: Callable[..., Page], turn_to: Callable[..., None]) -> None:
    page = open_lesson("tokens", text="The model stays.")
    expect(page.locator("#bar-status")).to_contain_text("6 layers")
    the_keyboard_reaches_the_lessons(page)
    a_model_out_of_reach_leaves_the_one_before(page)
    an_example_fills_the_bar(page)
    lone_surrogates_do_not_kill_the_page(page)
    for lesson, texts, pause in (
        ("tokens", HOSTILE, 60),
        ("attention", MARKUP, 260),  # these two draw slowly: what could run as markup is enough
        ("embeddings", MARKUP, 260),
    ):
        turn_to(page, lesson)
        page.evaluate(NO_DIALOG)
        hostile_text_never_runs_and_never_breaks(page, lesson, texts, pause)


def the_keyboard_reaches_the_lessons(page: Page) -> None:
    page.locator(SENTENCE).focus()
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('[id]')?.id || document.activeElement.tagName"))
        if page.evaluate(IN_LESSONS):
            break
    assert page.evaluate(IN_LESSONS), reached


def a_model_out_of_reach_leaves_the_one_before(page: Page) -> None:
    page.locator("#bar-model input").click()
    page.get_by_role("option", name="BERT tiny").click()
    expect(page.locator("#bar-status .notice")).to_contain_text("could not be downloaded")
    expect(page.locator("#bar-model input")).to_have_value("MiniLM (bundled)")
    expect(page.locator("#lesson-tokens ol li").first).to_be_visible()


def an_example_fills_the_bar(page: Page) -> None:
    before = page.locator(SENTENCE).input_value()
    page.locator(".examples-button").click()
    page.locator(".example-chip").nth(3).click()
    expect(page.locator(SENTENCE)).not_to_have_value(before)
    wait_for_query(page, "text", page.locator(SENTENCE).input_value())


def lone_surrogates_do_not_kill_the_page(page: Page) -> None:
    page.evaluate(
        """() => { const box = document.querySelector('#bar-text textarea');
                   box.value = 'half \\ud83d emoji'; box.dispatchEvent(new Event('input')); }"""
    )
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("half")
    page.locator(SENTENCE).fill("still alive")
    expect(page.locator("#lesson-tokens ol").first).to_contain_text("alive")


def hostile_text_never_runs_and_never_breaks(page: Page, lesson: str, texts: list[str], pause: int) -> None:
    for number, text in enumerate(texts):
        page.locator(SENTENCE).fill(text)
        if number % 6 == 0:
            page.locator("#bar-pair textarea").fill(text[:2_000])
        page.wait_for_timeout(pause)
    page.locator("#bar-pair textarea").fill("")
    page.locator(SENTENCE).fill(f"after everything in {lesson}")
    wait_for_query(page, "text", f"after everything in {lesson}")
    expect(page.locator(f"#lesson-{lesson} .notice:visible")).to_have_count(0)
    if lesson == "tokens":
        expect(page.locator("#lesson-tokens ol").first).to_contain_text("everything")
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x]").count() == 0


def test_what_is_announced_where_an_event_is_over_is_a_word(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings")
    expect(page.locator("#lesson-embeddings .heatmaplayer image")).to_have_count(2)
    page.evaluate(
        """() => {
            window.announced = new Set();
            new MutationObserver(() => {
                const places = document.querySelectorAll("[role=status].sr-only");
                for (const place of places) announced.add(place.textContent.trim());
            }).observe(document.body, { childList: true, characterData: true, subtree: true });
        }"""
    )
    page.locator("#lesson-embeddings").get_by_label("max", exact=True).first.check()
    page.wait_for_function("announced.has('Done')")
    assert not [words for words in page.evaluate("[...announced]") if words.startswith(("common.", "status."))]


def test_a_page_at_rest_draws_no_frames(open_lesson: Callable[..., Page], page: Page) -> None:
    """Gradio's clock beside “Loading” went on after it was gone: 2% of a core, on every page, for ever."""
    page.add_init_script(
        """{
            const requested = window.requestAnimationFrame;
            window.frames_requested = 0;
            window.requestAnimationFrame = (draw) => (window.frames_requested += 1, requested(draw));
        }"""
    )
    open_lesson("tokens")
    expect(page.locator("#tokens-picture ol")).to_be_visible()
    page.wait_for_function("window.frames_requested")
    page.wait_for_function("!window.frames_requested || (window.frames_requested = 0, false)", polling=500)


def test_the_sentence_has_the_most_room_in_the_bar(open_lesson: Callable[..., Page]) -> None:
    """At least 27 % of the window on a projector (1024 pixels) and a laptop, more than any other part of the bar."""
    page = open_lesson("overview")
    widths = "[...document.querySelectorAll('#bar > .row :is(.block, .form > *)')].map((one) => one.offsetWidth)"
    for width in (1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 768})
        sentence = page.locator("#bar-text").evaluate("(box) => box.offsetWidth")
        assert sentence >= 0.27 * width, width
        assert sentence == max(page.evaluate(widths)), width
