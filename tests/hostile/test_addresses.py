"""Requests over a socket that no browser sends, against the real app: read in one way, or refused in a sentence."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.hostile.wire import listen, send

CALL = "POST /gradio_api/call/tokenize HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


def _raw(url: str, request: str) -> str:
    """What comes back for these bytes, until the app closes or is silent for two seconds."""
    place = urlsplit(url)
    answer = b""
    with socket.create_connection((place.hostname, place.port), timeout=2) as connection:
        connection.sendall(request.encode("latin-1"))
        try:
            while more := connection.recv(2**16):
                answer += more
        except TimeoutError:
            pass
    return answer.decode("latin-1")


@pytest.mark.parametrize(
    "path",
    [
        f"/static/{'a' * 300}",
        f"/assets/{'a' * 5_000}.js",
        "/?page=nothing",
        "/?page=%00",
        "/?deep_link=../../x",
        "/%ff",
        "/static/%00",
        "/gradio_api/file=%00",
        "/gradio_api/file=..%2f..%2fapp.py",
        "/gradio_api/file=assets%2f..%2fapp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/assets/..%2f..%2fapp.py",
        "//gradio_api/file=http://example.org",
        "/gradio_api/%66ile=http://example.org",
        "/theme.css/../config",
    ],
)
def test_an_odd_address_is_no_fault_of_ours(app_url: str, path: str, logged: Callable[[], str]) -> None:
    answer = send(app_url, path)
    assert answer.status < 500
    assert b"MAX_WAITING_EVENTS" not in answer.body  # which app.py has
    assert "Traceback" not in logged()


@pytest.mark.parametrize(
    "headers",
    ["Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"],
)
def test_a_body_with_two_ends_is_refused_and_the_connection_closed(app_url: str, headers: str) -> None:
    answer = _raw(app_url, f"{CALL}{headers}\r\n0\r\n\r\nGET /config HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.startswith("HTTP/1.1 400")
    assert answer.count("HTTP/1.1") == 1


@pytest.mark.parametrize(
    "headers",
    [
        *("Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: -5\r\n", "Content-Length: +5\r\n"),
        *("Content-Length: 99999999999999999999999\r\n", "Transfer-Encoding: xchunked\r\n"),
        "Transfer-Encoding : chunked\r\n",
    ],
)
def test_a_body_without_an_end_is_refused(app_url: str, headers: str) -> None:
    assert _raw(app_url, f"{CALL}{headers}\r\n" + "{}   ").startswith("HTTP/1.1 4")


@pytest.mark.parametrize(
    "header",
    [
        *('Host: "><script>', "Host: a b", "Host: [::1", "Host: x:abc", "Host: u:p@evil.example", "Host: e/path?x#"),
        *("Host: a\r\nHost: b", "Host: \xff", "X-Forwarded-Host: [::1", 'X-Forwarded-Host: "></script><script>'),
    ],
)
def test_what_is_no_host_is_refused(app_url: str, header: str, logged: Callable[[], str]) -> None:
    hosts = header if header.startswith("Host") else f"Host: a\r\n{header}"
    answer = _raw(app_url, f"GET /config HTTP/1.1\r\n{hosts}\r\nConnection: close\r\n\r\n")
    assert answer.startswith("HTTP/1.1 400")
    assert "Traceback" not in logged()


@pytest.mark.parametrize("host", ["a", "a-b.hf.space", "127.0.0.1:7860", "[::1]:7860", "my_host:80", "EXAMPLE.org"])
def test_a_host_is_let_in(app_url: str, host: str) -> None:
    assert _raw(app_url, f"GET /robots.txt HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").startswith(
        "HTTP/1.1 200"
    )


@pytest.mark.parametrize("header", ["host", "x-forwarded-host"])
@pytest.mark.parametrize("path", ["/", "/tokens", "/config"])
def test_the_page_names_no_host(app_url: str, header: str, path: str) -> None:
    """What is built is kept for all names."""
    theirs, ours = send(app_url, path, headers={header: "evil.example"}), send(app_url, path)
    assert (theirs.status, theirs.body) == (200, ours.body)
    assert b"evil.example" not in theirs.body


@pytest.mark.parametrize("said", ["https://evil.example", "javascript:evil.example", "::::", "http://["])
def test_no_other_header_says_what_the_page_is_called(app_url: str, said: str, logged: Callable[[], str]) -> None:
    """Gradio would put it into the page that is kept for all of this host, and break off the end of an event for it."""
    ours = {"host": f"hall{len(said)}.example"}
    send(app_url, "/config", headers=ours | {"x-gradio-server": said})
    assert json.loads(send(app_url, "/config", headers=ours).body)["root"] == ""
    told = {"content-type": "application/json", "x-gradio-server": said}
    event = json.loads(send(app_url, "/gradio_api/call/tokenize", {"data": ["a", "", ""]}, told).body)["event_id"]
    assert "event: complete" in list(listen(app_url, f"/gradio_api/call/tokenize/{event}", 10))
    assert "Traceback" not in logged()


@pytest.mark.parametrize("path", ["/gradio_api/info", "/gradio_api/openapi.json"])
def test_who_asks_first_how_to_call_the_app_names_no_host_for_others(app_url: str, path: str) -> None:
    theirs = send(app_url, path, headers={"x-forwarded-host": "evil.example"})
    assert theirs.status == 200
    ours = send(app_url, path).body
    assert b"tokenize" in ours
    assert b"evil.example" not in ours
    assert b"address.invalid" not in ours  # the name under which the page is built for all


@pytest.mark.parametrize(
    "path", ["/?lesson=//evil.example", "/?lesson=https://evil.example", "//evil.example/?lesson=attention",
             "/tokens?lesson=%0d%0aX-A:%20b", "/?lesson=attention&x=%0d%0aX-A:%20b",
             "/logout?_target_url=https://evil.example"],
)  # fmt: skip
def test_a_link_leads_nowhere_else(app_url: str, path: str) -> None:
    answer = send(app_url, path)
    place = urlsplit(answer.headers["location"] or "")
    assert place.netloc in ("", urlsplit(app_url).netloc)
    assert answer.headers["x-a"] is None
