"""What a page asks of the server, and when all of it is answered: for tests of what is drawn, and how often."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Frame, Locator, Page, Request

# What a page has yet to do is counted from its beginning, so that a test knows when the page is at rest.
AT_REST = Path(__file__).with_name("at_rest.js").read_text(encoding="utf-8")
STEP = 100  # milliseconds
REST = 2000  # milliseconds without a request or an answer, after which a page that never ends its work is at rest
LOADED = {"script", "stylesheet"}  # what the page goes on with once it is there


class Asked:
    """The events that a page posts: (number of the handler, its inputs as JSON)."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.all: list[tuple[int, str]] = []
        self.seen = 0
        self.loading: set[Request] = set()
        page.add_init_script(AT_REST)  # for a page of a context of its own
        page.on("request", self._note)
        page.on("requestfinished", self._loaded)
        page.on("requestfailed", self._loaded)

    def _note(self, request: Request) -> None:
        if "/queue/join" in request.url:
            body: Any = request.post_data_json
            self.all.append((body["fn_index"], json.dumps(body["data"])))
        elif request.is_navigation_request() and request.frame == self.page.main_frame:
            self.loading.clear()
        elif request.resource_type in LOADED:
            self.loading.add(request)

    def _loaded(self, request: Request) -> None:
        self.loading.discard(request)

    def since_last(self, at_least: int = 0) -> list[tuple[int, str]]:
        """What was asked since the last call, once all of it (`at_least` so many) is answered and no more follows."""
        still = unanswered = 0
        for _ in range(1200):
            before, rests, unanswered = len(self.all), False, 1
            with contextlib.suppress(Error):  # the page was left meanwhile
                rests, unanswered = is_at_rest(self.page, STEP)
            as_before = len(self.all) == before >= self.seen + at_least and not unanswered and not self.loading
            still = still + (REST if rests else STEP) if as_before else 0
            if still >= REST:
                break
        else:
            pytest.fail(f"{len(self.all) - self.seen} new events of {len(self.all)}; {unanswered} are not answered")
        new, self.seen = self.all[self.seen :], len(self.all)
        return new


def settle(page: Page, most: int) -> None:
    """Wait until the page and its frames in sight are at rest, for `most` milliseconds of their time at the most."""
    is_at_rest(page, most)


def is_at_rest(page: Page, most: int) -> tuple[bool, int]:
    """(whether they are, within `most` milliseconds; how many events the server has not answered).

    First the frames, since one waits for a second press before it says to the page what was pressed.
    """
    frames = [False]
    with contextlib.suppress(Error):  # one was replaced meanwhile
        frames = [frame.evaluate("(most) => atRest(most)", most)[0] for frame, _ in frames_in_sight(page)]
    rests, unanswered = page.evaluate("(most) => atRest(most)", most)
    return rests and all(frames), unanswered


def frames_in_sight(page: Page) -> Iterator[tuple[Frame, float]]:
    """Each with its width in pixels of the page."""
    for frame in page.frames[1:]:
        box = frame.frame_element().bounding_box()
        if box and box["width"]:
            yield frame, box["width"]


def unfold(fold: Locator) -> None:
    """Open a fold by a press on its title."""
    fold.locator("> .label-wrap").click()


def twice(asked: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [event for event, count in Counter(asked).items() if count > 1]


# While window.held is a list, what is posted waits there. (Playwright's own way, a route, has the browser load all of
# the page's 500 files without its cache: eight seconds of processor a page.)
HOLD = """(() => {
    const given = window.fetch;
    window.held = %s;
    window.fetch = async (...asked) => {
        const held = String(asked[0]?.url ?? asked[0]).includes("/queue/join") && window.held;
        if (held) await new Promise((go) => held.push(go));
        return given(...asked);
    };
})()"""
RELEASE = """() => {
    const { held } = window;
    window.held = null;
    for (const go of held) go();
}"""


class StillServer:
    """A server that stands still for one page: what the page asks for between `stop` and `go_on` is taken after that.

    To the page it is a server that was stopped (SIGSTOP) and continued; other pages' events are taken meanwhile, and
    no system lacks it. Made before the page is opened; `stopped` has it stand still from then on.
    """

    def __init__(self, page: Page, stopped: bool = False) -> None:
        self.page = page
        page.add_init_script(HOLD % ("[]" if stopped else "null"))

    def stop(self) -> None:
        self.page.evaluate("window.held = []")

    def asked(self, count: int = 1) -> None:
        """Wait until so many events wait; fails where they don't come."""
        self.page.wait_for_function("(count) => window.held.length >= count", arg=count)

    def go_on(self) -> None:
        self.page.evaluate(RELEASE)
