"""A server that refuses or can't be reached, in Chromium: the page says so, asks again, and has lost nothing."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

LINE = "#ask-again"


def test_what_was_refused_is_asked_again_and_drawn(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens", text="Rivers have banks.")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    outcomes = ["busy", "away", "busy", "away"]  # of several handlers, each asked again by itself
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data or "")
        outcome = outcomes.pop() if outcomes else ""
        if outcome == "busy":
            route.fulfill(status=503, body='{"detail": "Queue is full."}')
        elif outcome == "away":
            route.abort("connectionrefused")
        else:
            route.continue_()

    page.route("**/queue/join*", answer)
    page.locator("#bar-text textarea").fill("Lakes have shores.")
    expect(page.locator(LINE)).to_contain_text("Trying again in")
    page.get_by_role("button", name="Try now").click()
    expect(chips).to_contain_text("shores")
    expect(page.locator(LINE)).to_have_count(0)
    assert len([body for body in asked if "Lakes have shores." in body]) > 4
    expect(page.locator("#lesson-tokens .error")).to_have_count(0)
    expect(page.locator(".toast-body")).to_have_count(0)
