"""Raw requests to the app, as a stranger with a script sends them."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

SECONDS = 60.0  # after which an answer counts as hung
OURS = {"content-type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def detail(self) -> Any:
        return json.loads(self.body)["detail"]


def send(
    url: str, path: str, body: Any = None, headers: Mapping[str, str] = OURS, method: str = "", seconds: float = SECONDS
) -> Answer:
    """GET without a body, else POST; what is no text or bytes goes as JSON, half surrogate pairs and all."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=seconds)
    data = body if isinstance(body, str | bytes | None) else json.dumps(body)
    try:
        connection.request(method or ("GET" if body is None else "POST"), path, data, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def join(url: str, fn_index: Any, data: Any, session: str = "", **fields: Any) -> Answer:
    """One event posted as the page posts it."""
    session = session or uuid.uuid4().hex
    return send(url, "/gradio_api/queue/join", {"fn_index": fn_index, "data": data, "session_hash": session} | fields)


def listen(url: str, path: str, seconds: float = SECONDS) -> Iterator[str]:
    """The lines of an event stream, as they come. Raises TimeoutError where none comes for `seconds`."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            yield f"status: {answer.status}"
            return
        deadline = time.monotonic() + seconds
        while line := answer.readline():
            if time.monotonic() > deadline:
                raise TimeoutError(path)
            if line.strip():
                yield line.decode().rstrip()
    finally:
        connection.close()


def call(url: str, name: str, data: list[Any], seconds: float = SECONDS) -> str:
    """The last line that an API call answers, or its refusal."""
    answer = send(url, f"/gradio_api/call/{name}", {"data": data})
    if answer.status != 200:
        return f"status: {answer.status}"
    lines = list(listen(url, f"/gradio_api/call/{name}/{json.loads(answer.body)['event_id']}", seconds))
    return lines[-1]
