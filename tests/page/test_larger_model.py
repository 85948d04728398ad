"""BERT base beside the bundled model: offered where it is on the disk or the Hub answers, and the page never waits."""

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import constants
from starlette.applications import Starlette
from starlette.testclient import TestClient

from demos.bert.model.catalogue import CATALOGUE, PREFERRED
from demos.page.larger_model import larger_model
from demos.page.larger_model.larger_model import (
    ADDRESS,
    ASKING,
    FETCHED,
    HERE,
    NOWHERE,
    LargerModel,
    LargerModelRoute,
    hub_answers,
    small_model_html,
)

WAIT = 20.0  # seconds for a thread to be done


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub may be asked; each test says itself what it answers."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(larger_model, "at_hand", lambda spec: False)


def settled(larger: LargerModel) -> str:
    deadline = time.monotonic() + WAIT
    while (state := larger.state()) == ASKING and time.monotonic() < deadline:
        time.sleep(0.01)
    return state


@pytest.mark.usefixtures("online")
@pytest.mark.parametrize(("answers", "state"), [(True, FETCHED), (False, NOWHERE)])
def test_the_hub_decides_and_is_asked_once(answers: bool, state: str) -> None:
    asked, begun, go = [], threading.Event(), threading.Event()

    def ask() -> bool:
        asked.append(threading.current_thread())
        begun.set()
        go.wait(WAIT)
        return answers

    larger = LargerModel(CATALOGUE, ask)
    assert [larger.state() for _ in range(5)] == [ASKING] * 5  # at once, though the Hub has not answered
    assert begun.wait(WAIT)
    go.set()
    assert settled(larger) == state
    assert larger.state() == state
    assert len(asked) == 1
    assert asked[0] is not threading.current_thread()


@pytest.mark.usefixtures("online")
def test_an_old_answer_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(larger_model, "SOON", 0.0)
    answers = iter([False, True, True, True])
    larger = LargerModel(CATALOGUE, lambda: next(answers, True))
    deadline = time.monotonic() + WAIT
    while larger.state() != FETCHED and time.monotonic() < deadline:
        time.sleep(0.01)
    assert larger.state() == FETCHED


def test_offline_nobody_is_asked_and_a_model_on_the_disk_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> bool:
        raise AssertionError

    assert constants.HF_HUB_OFFLINE
    monkeypatch.setattr(larger_model, "at_hand", lambda spec: False)
    assert LargerModel(CATALOGUE, ask).state() == NOWHERE
    monkeypatch.setattr(larger_model, "at_hand", lambda spec: spec.key == PREFERRED)
    assert LargerModel(CATALOGUE, ask).state() == HERE
    assert LargerModel({}, ask).state() == NOWHERE


def test_a_hub_that_is_not_there_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # where nothing listens
    assert not hub_answers()


def test_the_address_says_the_state_and_others_go_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(larger_model, "at_hand", lambda spec: True)
    client = TestClient(LargerModelRoute(Starlette(), LargerModel(CATALOGUE)))
    answer = client.get(ADDRESS)
    assert (answer.status_code, answer.json()) == (200, {"state": HERE})
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/other").status_code == client.post(ADDRESS).status_code == 404


def test_the_sentence_is_for_our_own_heads_alone() -> None:
    ours: Any = SimpleNamespace(about={"trained_by": "us", "tokens": "48363907"})
    said = small_model_html(ours, CATALOGUE)
    assert "This is a small model, trained on 48 million tokens." in said
    assert f'value="{PREFERRED}">BERT base<span> ({CATALOGUE[PREFERRED].size_mb} MB, once)</span></button>' in said
    assert "<button" not in small_model_html(ours, {})
    theirs: Any = SimpleNamespace(about={"trained_by": "google-bert"})
    assert small_model_html(theirs, CATALOGUE) == ""
