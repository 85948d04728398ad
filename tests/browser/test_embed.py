"""The app in a frame of a course's page: who may frame it, the height that it posts, and no storage."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from playwright.sync_api import Error as PlaywrightError

from tests.conftest import own_app

COURSE, OTHER = "https://moodle.example.edu", "https://elsewhere.example"
AROUND = """<!doctype html><title>Week 3</title><h1>Week 3</h1>{frame}
<script>
  window.heights = [];
  addEventListener("message", ({{ data, source }}) => {{
    if (data?.type !== "inside-bert-height") return;
    heights.push(data.height);
    for (const frame of document.querySelectorAll("iframe"))
      if (frame.contentWindow === source) frame.height = data.height;
  }});
</script>"""
# As where a reader has blocked cookies and what is like them: the mere name throws.
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });"""


@pytest.fixture(scope="module")
def framed_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app that COURSE may frame."""
    with own_app(tmp_path_factory.mktemp("framed"), INSIDE_BERT_FRAME=COURSE) as url:
        yield url


@pytest.fixture
def course(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own, in which an uncaught error fails the test."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(40_000)
    with suppress(PlaywrightError):  # an older Chromium does not ask before a site's page opens this machine's
        context.grant_permissions(["local-network-access"])
    faults: list[str] = []
    context.on("weberror", lambda fault: faults.append(str(fault.error)))
    yield context
    context.close()
    assert faults == []


def around(context: BrowserContext, origin: str, frame: str) -> Page:
    """A page of this origin with that frame in it."""

    def answer(route: Route) -> None:
        route.fulfill(body=AROUND.format(frame=frame), content_type="text/html")

    context.route(f"{origin}/**", answer)
    page = context.new_page()
    page.goto(f"{origin}/course")
    return page


def test_a_course_shows_a_view_in_a_frame_that_fits_without_storage(course: BrowserContext, framed_url: str) -> None:
    page = course.new_page()
    page.goto(f"{framed_url}/tokens?text=Wombats+outpaced+the+ferry.")
    expect(page.locator("#tokens-picture")).to_contain_text("wo")
    button = page.get_by_role("button", name="Embed this view")
    expect(button).to_be_in_viewport()
    button.click()
    given = page.locator("#embed textarea").input_value()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#embed")).to_be_hidden()
    page.close()
    matched = re.fullmatch(r'<iframe src="([^"]+)" [^>]*></iframe>', given)
    assert matched, given
    link = urlsplit(html.unescape(matched[1]))
    assert f"{link.scheme}://{link.netloc}{link.path}" == f"{framed_url}/tokens"
    query = parse_qs(link.query)
    assert (query["text"], query["present"]) == (["Wombats outpaced the ferry."], ["1"])
    assert 'title="Inside BERT: Tokens"' in given
    assert 'width="100%"' in given
    assert re.search(r' height="\d{3,4}"', given)

    course.add_init_script(f"if (window.parent !== window) {{ {NO_STORAGE} }}")
    page = around(course, COURSE, given)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#tokens-picture")).to_contain_text("ferry")
    expect(frame.locator("#bar-text")).to_be_hidden()  # presenter mode
    page.wait_for_function("heights.length > 0")
    page.wait_for_timeout(1_500)
    said = page.evaluate("heights")
    assert len(said) < 10, "the frame's height does not change what it asks for"
    content = page.frames[1]
    assert content.evaluate("document.querySelector('#tokens-picture').getBoundingClientRect().bottom") <= said[-1]
    frame.locator("#tokens-picture").click(position={"x": 4, "y": 4})
    page.keyboard.press("p")  # out of presenter mode
    expect(frame.locator("#bar-text")).to_be_visible()
    frame.locator("#bar-text textarea").fill("Nobody noticed the wombats.")
    expect(frame.locator("#tokens-picture")).to_contain_text("nobody")


def test_another_site_may_not_frame_it(course: BrowserContext, framed_url: str, app_url: str) -> None:
    for origin, url in ((OTHER, framed_url), (COURSE, app_url)):  # the latter is an app without the option
        with course.expect_event("console", lambda said: "frame-ancestors" in said.text):
            page = around(course, origin, f'<iframe src="{url}/tokens"></iframe>')
        assert not page.frames[1].url.startswith("http"), f"{url} is shown at {origin}"
        page.close()
    page = course.new_page()
    page.goto(f"{app_url}/tokens")
    expect(page.locator("#tokens-picture")).to_contain_text("[CLS]")  # the page stands as its link says
    page.wait_for_function("new URLSearchParams(location.search).has('model')")
    assert page.locator("#embed-button").count() == 0
