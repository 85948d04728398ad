"""What a page asks of the server, and when all of it is answered: for tests of what is drawn, and how often."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, Page, Request

# Counts the answers that have come in whole, so that a test knows when the page is at rest.
COUNT_ANSWERS = """(() => {
    const given = window.fetch;
    window.answered = 0;
    window.fetch = async (...asked) => {
        const answer = await given(...asked);
        if (!String(asked[0]?.url ?? asked[0]).includes("/queue/data")) return answer;
        const [theirs, ours] = answer.body.tee();
        (async () => {
            const reader = ours.pipeThrough(new TextDecoderStream()).getReader();
            for (let rest = ""; ; ) {
                const { done, value } = await reader.read();
                if (done) return;
                const told = (rest + value).split('"msg":"process_completed"');
                window.answered += told.length - 1;
                rest = told.at(-1).slice(-40);
            }
        })().catch(() => {}); // the page was left
        return new Response(theirs, answer);
    };
})()"""
STEP = 100  # milliseconds
REST = 500  # milliseconds without a request or an answer: more than the page waits before it draws
# They are counted once the page's own work is done, so that a slow machine is not taken for a page at rest.
WAIT = "(step) => new Promise((go) => requestIdleCallback(() => setTimeout(go, step), { timeout: 5000 }))"
LOADED = {"script", "stylesheet"}  # what the page goes on with once it is there


class Asked:
    """The events that a page posts: (number of the handler, its inputs as JSON)."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.all: list[tuple[int, str]] = []
        self.seen = 0
        self.left = 0  # posted by pages that were left since
        self.loading: set[Request] = set()
        page.add_init_script(COUNT_ANSWERS)
        page.on("request", self._note)
        page.on("requestfinished", self._loaded)
        page.on("requestfailed", self._loaded)

    def _note(self, request: Request) -> None:
        if "/queue/join" in request.url:
            body: Any = request.post_data_json
            self.all.append((body["fn_index"], json.dumps(body["data"])))
        elif request.is_navigation_request() and request.frame == self.page.main_frame:
            self.left = len(self.all)
            self.loading.clear()
        elif request.resource_type in LOADED:
            self.loading.add(request)

    def _loaded(self, request: Request) -> None:
        self.loading.discard(request)

    def since_last(self, at_least: int = 0) -> list[tuple[int, str]]:
        """What was asked since the last call, once all of it (`at_least` so many) is answered and no more follows."""
        still = 0
        for _ in range(1200):
            before = len(self.all)
            with contextlib.suppress(Error):  # the page was left meanwhile
                self.page.evaluate(WAIT, STEP)
            at_rest = len(self.all) == before >= self.seen + at_least and not self.loading
            at_rest = at_rest and self.page.evaluate("window.answered") >= before - self.left
            still = still + STEP if at_rest else 0
            if still >= REST:
                break
        else:
            asked, answered = len(self.all), self.page.evaluate("window.answered")
            pytest.fail(f"{asked - self.seen} new events; of all {asked}, {answered} were answered")
        new, self.seen = self.all[self.seen :], len(self.all)
        return new


def unfold(fold: Locator) -> None:
    """Open a fold of controls by a press on its title, and wait until they are drawn.

    Gradio gives them their values twice, the second time a frame after they are there: what a test typed in between,
    which no reader sees, would be lost.
    """
    fold.locator("> .label-wrap").click()
    fold.locator(":is(input, textarea, button):not(.label-wrap)").first.wait_for()
    fold.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go))))")


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
