"""A push to the Hub on a page with sign-in: the question, by mouse and by keys; nobody else's browser can push."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import stands, visit
from tests.conftest import ROOT, START_SECONDS, answers, end_app, free_port
from tests.visit import Visit, train

STRANGER = "a-key-of-the-stranger-alone"
ANOTHERS = "This model was trained in another browser"


class SignedIn:
    """The app with sign-in, and what was made on the stand-in for the Hub."""

    def __init__(self, url: str, file: Path) -> None:
        self.url, self.file = url, file

    @property
    def made(self) -> dict[str, Any]:
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignedIn]:
    folder = tmp_path_factory.mktemp("signed-in")
    port, made = free_port(), folder / "made.json"
    env = {**os.environ, "INSIDE_BERT_RUNS": str(folder / "runs"), "HF_HOME": str(folder / "hub")}
    env["OMP_NUM_THREADS"] = "1"
    command = [sys.executable, "-m", "tests.browser.signed_in_app", str(port), str(made)]
    with (folder / "app.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while not answers(url):
            assert time.monotonic() < deadline, (folder / "app.log").read_text(encoding="utf-8")[-4_000:]
            time.sleep(0.2)
        yield SignedIn(url, made)
    finally:
        end_app(process.pid, url)
        process.wait()


@pytest.fixture(scope="module")
def signed_in_page(browser: Any, app: SignedIn) -> Iterator[Page]:
    """Of a reader who has trained, then signed in as ann, and is about to publish."""
    context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(40_000)
    page = context.new_page()
    visit(page, f"{app.url}/finetune?epochs=1&most=50&trains=head")
    stands(page, "finetune")
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after", timeout=300_000)
    expect(page.locator("#finetune-scores")).to_be_visible()  # the browser remembers that it has trained
    page.goto(f"{app.url}/stand-in?account=ann")  # as signing in does: to another address and back
    visit(page, f"{app.url}/finetune?part=export")
    stands(page, "finetune")
    expect(page.locator("#export-download")).to_be_enabled()
    yield page
    context.close()


def test_the_question_names_what_is_done_and_only_then_it_is_done(
    signed_in_page: Page, app: SignedIn, turn_to: Callable[..., None]
) -> None:
    page = signed_in_page
    button, dialogue = page.locator("#export-push"), page.locator("#export-confirm dialog")
    page.fill("#export-name input, #export-name textarea", "my-bert")
    for close in (lambda: page.keyboard.press("Escape"), lambda: dialogue.get_by_role("button", name="Cancel").click()):
        button.focus()
        page.keyboard.press("Enter")
        expect(dialogue).to_be_visible()
        expect(dialogue).to_contain_text("Publish ann/my-bert as a private model of the account ann?")
        expect(dialogue.get_by_role("button", name="Cancel")).to_be_focused()
        close()
        expect(dialogue).to_have_count(0)
        expect(button).to_be_focused()
        assert app.made == {}

    page.get_by_label("everyone (public)").check()
    button.click()
    expect(dialogue).to_contain_text("Publish ann/my-bert as a public model of the account ann?")
    found = Axe().run(page, context="#export-confirm")
    assert found.violations_count == 0, found.generate_report()
    page.keyboard.press("Tab")
    expect(dialogue.get_by_role("button", name="Publish")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#export-pushed")).to_contain_text("/ann/my-bert", timeout=300_000)
    assert app.made["ann/my-bert"]["private"] is False
    assert "model.safetensors" in app.made["ann/my-bert"]["files"]
    expect(button).to_be_focused()

    button.click()  # which is there by now
    expect(page.locator("#export-pushed")).to_contain_text("You already have a model with this name")
    expect(dialogue).to_have_count(0)


def test_what_a_stranger_has_trained_goes_to_no_account_of_a_victims(signed_in_page: Page, app: SignedIn) -> None:
    """The stranger knows everything of their own session, and has the victim's browser post to it from the page."""
    stranger = Visit(app.url)
    stranger.http.get("/", headers={"accept": "text/html"})  # their own cookie
    train(stranger, STRANGER)
    stranger.ask(stranger.drawing("finetune-lost"), {0: STRANGER})
    before = app.made
    victim = {cookie["name"]: cookie["value"] for cookie in signed_in_page.context.cookies()}
    ask = stranger.on("click", "export-push")
    own = stranger.http.cookies
    stranger.http.cookies = victim  # type: ignore[assignment]
    told = stranger.ask(ask, {3: "stolen", 4: "public"})
    assert ANOTHERS in told["export-pushed"]
    publish = stranger.on("submit", "export-confirm")
    assert "nothing to confirm" in stranger.ask(publish, {})["export-pushed"]
    stranger.http.cookies = own
    assert "Sign in" in stranger.ask(ask, {3: "own", 4: "public"})["export-pushed"]
    assert app.made == before


def test_a_page_that_is_kept_for_all_carries_nobodys_cookie(signed_in_page: Page, app: SignedIn) -> None:
    stranger = signed_in_page.context.browser.new_context()
    page = stranger.new_page()
    visit(page, f"{app.url}/finetune?part=export")
    stands(page, "finetune")
    (cookie,) = stranger.cookies()
    assert cookie["httpOnly"]
    assert cookie["value"] not in [one["value"] for one in signed_in_page.context.cookies()]
    expect(page.locator("#lesson-finetune")).not_to_contain_text("ann")
    stranger.close()
