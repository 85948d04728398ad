"""An error that comes again and again is told three times, then counted."""

import logging
from collections.abc import Iterator

import gradio as gr
import pytest

from demos.page.protection.error_log import IN_FULL, Counted
from tests.hostile.wire import call
from tests.page.patched import apply_named


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    counted = Counted()
    caplog.handler.addFilter(counted)
    yield caplog
    caplog.handler.removeFilter(counted)  # the handler is that of all tests


def _fail(log: logging.Logger, value: int) -> None:
    try:
        raise ValueError(value)
    except ValueError:
        log.exception("failed with %s", value)


def test_a_thousand_tracebacks_are_six_lines(told: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("demos.some")
    for value in range(1_000):
        _fail(log, value)
    assert [record.getMessage() for record in told.records[:3]] == [f"failed with {value}" for value in range(3)]
    assert [record.exc_info is None for record in told.records] == [False] * 3 + [True] * 3
    assert told.records[-1].getMessage().startswith("1,000 times by now: ValueError ")
    assert len(told.text) < 3_000


def test_another_error_is_told(told: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("demos.some")
    for _ in range(50):
        log.warning("the same")
    log.warning("another")
    assert [record.getMessage() for record in told.records][-1] == "another"
    assert len(told.records) == 5


def test_messages_that_are_no_warnings_all_pass(told: pytest.LogCaptureFixture) -> None:
    told.set_level(logging.INFO)
    for _ in range(50):
        logging.getLogger("demos.some").info("the same")
    assert len(told.records) == 50


def test_an_event_that_fails_in_gradio_is_counted_too(
    told: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    apply_named(monkeypatch, "traceback")

    def fail(value: str) -> str:
        raise ValueError(value)

    with gr.Blocks(analytics_enabled=False) as demo:
        text = gr.Textbox()
        gr.Button().click(fail, text, text, api_name="fail")
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False)
    for number in range(12):
        assert call(demo.local_url, "fail", [str(number)]) == 'data: {"error": null}'
    demo.close()
    assert "Traceback" not in capfd.readouterr().err
    assert told.text.count("Traceback") == IN_FULL
    assert told.messages[-1].startswith("10 times by now: ValueError ")
