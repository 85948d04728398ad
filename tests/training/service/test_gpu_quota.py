"""What a run asks of ZeroGPU, by what it needs and who asks; and each refusal of spaces' client, in one sentence."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
from gradio.context import LocalContext

from demos.training.service import gpu_quota
from demos.training.service.background import Background
from demos.training.service.gpu_quota import (
    ACCOUNT_SECONDS,
    LEAST_SECONDS,
    NO_ANSWER,
    VISITOR_SECONDS,
    day_seconds,
    reason,
    seconds_to_ask,
    work_seconds,
)
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


def token_of(**payload: str) -> str:
    """A token as the Hub's proxy sends it: head, payload and signature."""
    return f"e30.{base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip('=')}.c2ln"


@contextmanager
def asked_with(headers: dict[str, str] | None) -> Iterator[None]:
    request = None if headers is None else SimpleNamespace(headers=headers)
    before = LocalContext.request.set(request)  # type: ignore[arg-type]
    try:
        yield
    finally:
        LocalContext.request.reset(before)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (None, VISITOR_SECONDS),
        ({}, VISITOR_SECONDS),
        ({"x-ip-token": token_of(ip="1.2.3.4")}, VISITOR_SECONDS),
        ({"x-ip-token": "no token at all"}, VISITOR_SECONDS),
        ({"x-ip-token": token_of(ip="1.2.3.4", user="ann")}, ACCOUNT_SECONDS),
    ],
)
def test_who_has_an_account_may_ask_for_more(headers: dict[str, str] | None, seconds: int) -> None:
    with asked_with(headers):
        assert day_seconds() == seconds


HARDWARE = json.loads((resources.files("spaces") / "zero" / "configs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("config", HARDWARE, ids=lambda config: config["model"])
def test_a_run_asks_for_what_it_needs_and_never_for_more_than_there_is(
    config: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_quota, "get_config", lambda: config)
    factor = config["duration_factor"]
    asked = {}
    for user in ("", "ann"):
        with asked_with({"x-ip-token": token_of(user=user)}):
            asked[user] = [seconds_to_ask(work) for work in (0.5, 20, 10_000)]
            assert max(asked[user]) * factor <= day_seconds()
    assert asked[""][:2] == asked["ann"][:2] == [LEAST_SECONDS, 63]
    assert asked[""][2] == int(120 / factor) < asked["ann"][2] == 300 / factor
    assert 2 * LEAST_SECONDS * factor <= VISITOR_SECONDS


def test_a_run_like_one_before_asks_by_that_ones_speed(dataset: Dataset) -> None:
    careful = work_seconds(dataset, Settings(epochs=20))
    assert work_seconds(dataset, Settings(epochs=1)) < careful
    assert work_seconds(dataset, Settings(epochs=20), 1_500.0) == pytest.approx(careful / 10)


@pytest.mark.parametrize(
    ("title", "message", "told"),
    [
        (
            "ZeroGPU quota exceeded",
            "You have exceeded your free ZeroGPU quota (60s requested vs. 12s left). Try again in 3:20:11. ",
            "This run needs 60 s of GPU time; you have 12 s left, and get more in 3 h 20 min.",
        ),
        (
            "ZeroGPU quota exceeded",
            "You have exceeded your ZeroGPU quota (60s requested vs. -1s left). Try again in 1 day, 0:04:11. ",
            "This run needs 60 s of GPU time; you have 0 s left, and get more in 24 h 4 min.",
        ),
        ("ZeroGPU quota exceeded", "Space app has reached its GPU limit. Try re-running", "open this Space on hug"),
        ("ZeroGPU queue timeout", "No GPU was available after 60s [Subscribe](x)", "No GPU is free at this moment."),
        ("ZeroGPU client error", "Expired ZeroGPU proxy token", "click Start again"),
        ("ZeroGPU worker error", "GPU task aborted", "ended during the run"),
        ("ZeroGPU worker error", "KeyError", "The run failed on the GPU"),
    ],
)
def test_a_refusal_is_told_in_one_sentence(title: str, message: str, told: str) -> None:
    said = reason(gr.Error(message, title=title), 60, 5.0)
    assert told in said
    assert ("Duplicate this Space" in said) == ("get more in" in said)
    assert "ZeroGPU worker error" not in said


def test_a_run_that_outlived_its_gpu_is_told_so_and_silence_too() -> None:
    aborted = gr.Error("GPU task aborted", title="ZeroGPU worker error")
    assert "lost its GPU after 60 seconds" in reason(aborted, 60, 61.0)
    assert reason(httpx.ConnectError("refused"), 60, 1.0) == NO_ANSWER


def test_a_run_in_the_background_asks_as_its_reader() -> None:
    """Its thread knows by whose press it was begun."""
    background = Background()
    with asked_with({"x-ip-token": token_of(user="ann")}):
        work = ({"seconds": day_seconds()} for _ in range(1))
        background.start("run", "ann-and-her-own-key", "part", work, stop=lambda: None)
    assert {"seconds": ACCOUNT_SECONDS} in list(background.follow("run"))
