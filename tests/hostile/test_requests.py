"""Requests that no page of ours sends, against the real app: refused before Gradio's queue keeps them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hostile.wire import call, join, send

HALF = "\ud800"
TOKENIZE = [["a", "", ""]]


@pytest.fixture(scope="module")
def functions(app_url: str) -> dict[str, Any]:
    """The app's configuration: its functions and components."""
    return json.loads(send(app_url, "/config").body)


@pytest.fixture(scope="module")
def tokenize(functions: dict[str, Any]) -> int:
    """The number of a function that costs little."""
    return next(one["id"] for one in functions["dependencies"] if one["api_name"] == "tokenize")


@pytest.mark.parametrize(
    "wrong",
    [
        {"session_hash": f"a{HALF}"},
        {"session_hash": "x" * 65},
        {"session_hash": ""},
        {"session_hash": 7},
        {"session_hash": None},
        {"session_hash": "../../x"},
        {"event_id": HALF},
        {"event_id": ["a"]},
        {"trigger_id": HALF},
        {"trigger_id": -1},
        {"trigger_id": 10**9},
        {"trigger_id": True},
        {"trigger_id": 10**400},
        {"fn_index": -1},
        {"fn_index": 10**6},
        {"fn_index": 10**40},
        {"fn_index": "0"},
        {"fn_index": 1.5},
        {"fn_index": None},
        {"event_data": json.loads("[" * 300 + "]" * 300)},
        {"fn_index": True},
        {"data": None},
        {"data": {}},
        {"data": []},
        {"batched": True},
        {"oauth_token": HALF},
    ],
    ids=str,
)
def test_a_malformed_event_is_refused(app_url: str, tokenize: int, wrong: dict[str, Any]) -> None:
    sent = {"fn_index": tokenize, "data": ["a", "", ""], "session_hash": "honest"} | wrong
    answer = send(app_url, "/gradio_api/queue/join", sent)
    assert answer.status == 422
    assert answer.detail.endswith(".")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"NaN", b"\xff\xfe", b"[" * 100_000, b'{"data": [NaN]}', b"null"])
@pytest.mark.parametrize("path", ["queue/join", "call/tokenize", "cancel", "component_server", "reset"])
def test_what_is_no_json_object_is_refused(app_url: str, path: str, body: bytes) -> None:
    assert send(app_url, f"/gradio_api/{path}", body).status == 422


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("call/nothing", {"data": []}),
        ("call/v2/nothing", {}),
        ("call/tokenize", {"data": []}),
        ("call/tokenize", {"data": ["a", "", ""], "session_hash": HALF}),
        ("cancel", {"session_hash": "a", "event_id": HALF, "fn_index": 1}),
        ("cancel", {"session_hash": "a", "event_id": "b", "fn_index": "c"}),
        ("component_server", {"session_hash": "a", "component_id": 10**9, "fn_name": "x", "data": 1}),
        ("component_server", {"session_hash": "a", "component_id": [], "fn_name": "x", "data": 1}),
        ("component_server", {"session_hash": HALF, "component_id": 1, "fn_name": "x", "data": 1}),
        ("component_server", {"session_hash": "a"}),
    ],
    ids=str,
)
def test_other_addresses_are_as_strict(app_url: str, path: str, body: dict[str, Any]) -> None:
    assert send(app_url, f"/gradio_api/{path}", body).status == 422


@pytest.mark.parametrize(
    "path",
    ["heartbeat/%ED%A0%80", f"heartbeat/{'x' * 65}", "queue/data?session_hash=%ED%A0%80", "upload_progress?upload_id="],
)
def test_ids_in_an_address_are_as_strict(app_url: str, path: str) -> None:
    assert send(app_url, f"/gradio_api/{path}").status == 422


def test_half_a_surrogate_pair_in_a_text_is_read_as_unknown(app_url: str) -> None:
    assert "complete" not in call(app_url, "tokenize", [1])
    told = json.loads(call(app_url, "tokenize", [f"a {HALF} b", "", ""]).removeprefix("data: "))[0]
    assert told["tokens"][:2] == ["[CLS]", "a"]


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/deep_link?session_hash=a",
        "/gradio_api/vibe-code",
        "/gradio_api/proxy=https://x.hf.space",
        "/gradio_api/file=https://example.org/x",
        "/gradio_api/token",
        "/dev/reload",
        "/gradio_api/dev/reload",
    ],
)
def test_routes_that_the_page_does_not_need_are_closed(app_url: str, path: str) -> None:
    assert send(app_url, path).status == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/monitoring", None),
        ("/monitoring/summary", None),
        ("/monitoring/x/dashboard", None),
        ("/gradio_api/runs", None),
        ("/gradio_api/run-history/records", None),
        ("/gradio_api/run-history/connect", {}),
    ],
)
def test_routes_that_gradio_closes_itself(app_url: str, path: str, body: object) -> None:
    assert send(app_url, path, body).status in (403, 404)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "https://other.hf.space"},
    ],
    ids=str,
)
def test_another_page_changes_nothing_and_reads_nothing(app_url: str, tokenize: int, headers: dict[str, str]) -> None:
    body = {"fn_index": tokenize, "data": ["a", "", ""], "session_hash": "foreign"}
    for host in ({}, {"host": "someone-bert.hf.space", "x-forwarded-host": "someone-bert.hf.space"}):
        told = {"content-type": "application/json", **host, **headers}
        assert send(app_url, "/gradio_api/queue/join", body, told).status == 403
        assert send(app_url, "/gradio_api/queue/join", None, told, method="OPTIONS").status == 403
        read = send(app_url, "/gradio_api/info", None, told)
        assert (read.status, read.headers["access-control-allow-origin"]) == (200, None)


def test_another_page_signs_nobody_out(app_url: str) -> None:
    assert send(app_url, "/logout", headers={"sec-fetch-site": "cross-site"}).status == 403
    assert send(app_url, "/logout", headers={"sec-fetch-site": "same-origin"}).status == 302


def test_our_own_page_and_programs_are_let_in(app_url: str, tokenize: int) -> None:
    body = {"fn_index": tokenize, "data": ["a", "", ""], "session_hash": "ours"}
    space = "someone-bert.hf.space"
    for headers in (
        {},
        {"origin": app_url},
        {"origin": f"https://{space}", "host": space},
        {"origin": f"https://{space}", "x-forwarded-host": space},
        {"origin": f"https://{space}", "sec-fetch-site": "same-origin"},
    ):
        told = {"content-type": "application/json", **headers}
        assert send(app_url, "/gradio_api/queue/join", body, told).status == 200, headers


def test_every_page_says_who_may_frame_it(app_url: str) -> None:
    policy = send(app_url, "/").headers["content-security-policy"]
    assert policy.endswith("; frame-ancestors 'self' https://huggingface.co https://*.hf.space")
    for path in ("/", "/config", "/gradio_api/info", "/nothing", "/gradio_api/queue/join"):
        answer = send(app_url, path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"


def test_programs_that_speak_mcp_find_nothing_without_the_option(app_url: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert send(app_url, "/gradio_api/mcp/", body, {"content-type": "application/json"}).status in (404, 405)
    for path in ("/gradio_api/mcp", "/gradio_api/mcp/", "/gradio_api/mcp/sse"):
        assert send(app_url, path).status == 405


def test_an_event_that_is_in_order_is_taken(app_url: str, tokenize: int) -> None:
    assert join(app_url, tokenize, ["a", "", ""]).status == 200
