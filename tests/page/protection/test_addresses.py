"""The path behind a proxy that hands on its own part of it: the guards read it as the router does."""

from collections.abc import Iterator

import gradio as gr
import pytest

from demos.page.protection import INNERMOST, MIDDLEWARE
from tests.hostile.wire import join, send

EVENT = {"fn_index": 0, "data": ["a"], "session_hash": "s"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with gr.Blocks(analytics_enabled=False) as demo:
        text = gr.Textbox()
        text.change(lambda said: said, text, text, api_name="echo")
    guards = [*MIDDLEWARE, INNERMOST]
    options = {"prevent_thread_lock": True, "quiet": True, "_frontend": False, "app_kwargs": {"middleware": guards}}
    demo.launch(root_path="/bert", **options)
    yield demo.local_url.removesuffix("/").removesuffix("/bert")
    demo.close()


@pytest.mark.parametrize("prefix", ["", "/bert", "/bert/bert"])
def test_no_guard_is_passed_by_the_proxys_part_of_a_path(url: str, prefix: str) -> None:
    for path in ("deep_link?session_hash=a", "token", "file=https://example.org/x"):
        answer = send(url, f"{prefix}/gradio_api/{path}")
        assert (answer.status, answer.body) == (404, b'{"detail":"There is no such address here."}')
    assert send(url, f"{prefix}/gradio_api/queue/join", EVENT | {"fn_index": 9}).status == 422
    assert send(url, f"{prefix}/logout", headers={"sec-fetch-site": "cross-site"}).status == 403


def test_a_path_with_and_without_it_leads_to_the_page(url: str) -> None:
    assert join(url, 0, ["a"]).status == 200
    assert send(url, "/bert/gradio_api/queue/join", EVENT).status == 200
    for path in ("/", "/bert/", "/config", "/bert/config"):
        assert b"/bert" in send(url, path).body
