"""Requests whose ids or values no page of ours could send are refused before Gradio's queue keeps them.

Gradio trusts its input: a session's name with half a surrogate pair in it breaks the end of each later event,
whoever posts it, and a function that does not exist is a traceback. The checked values are written again and passed on.
"""

import json
import re
from inspect import getattr_static
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
import orjson  # Gradio requires it
from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.files import Json
from demos.page.protection.answers import refuse
from demos.page.protection.body_guard import MEGABYTE, is_upload
from demos.page.protection.coming import Coming

ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
PREFIX = f"{API_PREFIX}/"
JOIN, CALL, SERVER = f"{PREFIX}queue/join", f"{PREFIX}call/", f"{PREFIX}component_server"
IDS_IN_BODY = ("session_hash", "event_id")
IDS_IN_ADDRESS = ("session_hash", "upload_id", "event_id")
IN_PATH = ("heartbeat/", "stream/", "call/")  # whose path ends in ids
LONGEST_TOKEN = 4_096
BODY_SECONDS = 30.0  # in which a body is sent
MOST_COMING = 64 * MEGABYTE  # of all bodies that have not come to their end
MOST_VALUES = 20_000  # in a body: Gradio takes 2 s of the event loop for a million
PAIR = re.compile("[\ud800-\udfff]")
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # a text of JSON, or one without an end
BEGINNINGS = b",", b"[", b"{"  # of values


class RefusedError(ValueError):
    """The fault in a request, as one sentence."""


class RequestCheck:
    """ASGI middleware: 422 and a sentence for malformed ids, unknown functions and components, and what is no JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.coming = Coming()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self.app(scope, receive, send)
            return
        try:
            _check_address(scope)
            if scope["method"] == "POST" and not is_upload(scope):
                try:
                    async with self.coming.counted(receive, BODY_SECONDS, MOST_COMING) as counted:
                        body = await _read(counted)
                except TimeoutError:
                    await refuse(send, 408, "The request did not come to its end.", (b"connection", b"close"))
                    return
                if body is None:
                    return  # they hung up
                body = checked(body, scope["path"], scope["app"].get_blocks())
                scope = {**scope, "headers": _with_length(scope["headers"], len(body))}
                receive = _replayed(body, receive)
        except RefusedError as refused:
            await refuse(send, 422, str(refused))
            return
        await self.app(scope, receive, send)


def checked(body: bytes, path: str, blocks: gr.Blocks) -> bytes:
    """The body of a request to `blocks` in the form that is passed on. Raises RefusedError."""
    if _has_more_values(body, MOST_VALUES):
        raise RefusedError(f"The body holds more than {MOST_VALUES:,} values.")
    values = _parsed(body)
    if not isinstance(values, dict):
        raise RefusedError("The body must be a JSON object.")
    if path.startswith(f"{CALL}v2/"):  # its fields are the function's own arguments
        _endpoint(path, blocks.fns)
        return _written(values)
    for name in IDS_IN_BODY:
        if (value := values.get(name)) is not None and not _is_id(value):
            raise RefusedError(f"{name} must be 1 to 64 letters, digits, dashes or underscores.")
    for name in ("trigger_id", "component_id"):
        value = values.get(name)
        if value is not None and not (type(value) is int and (value in blocks.blocks or value == blocks._id)):
            raise RefusedError(f"{name} names no component of this page.")
    token = values.get("oauth_token")
    if token is not None and not (isinstance(token, str) and token.isascii() and len(token) <= LONGEST_TOKEN):
        raise RefusedError("oauth_token must be a short string.")
    if values.get("batched"):
        raise RefusedError("This page does not accept batches.")
    if path.startswith(JOIN):
        _check_join(values, blocks.fns)
    elif path.startswith(CALL):
        _check_count(values, _endpoint(path, blocks.fns), named=True)
    elif path.startswith(SERVER):
        _check_server(values, blocks)
    elif type(values.get("fn_index", 0)) is not int:
        raise RefusedError("fn_index must be a whole number.")
    return _written(values)


def _parsed(body: bytes) -> Any:
    """The JSON value, with U+FFFD in the place of halves of surrogate pairs. Raises RefusedError."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:  # which half a pair is, too: a text field of a browser can hold it
        try:
            text = body.decode("utf-8")
            mended = PAIR.sub("\ufffd", json.dumps(json.loads(text, parse_constant=_no_number), ensure_ascii=False))
            return orjson.loads(mended)
        except (ValueError, RecursionError) as error:
            raise RefusedError("The body is not JSON.") from error


def _has_more_values(body: bytes, most: int) -> bool:
    """Whether JSON text may hold more than `most` values: checked before they are made, in a hundred times its room.

    It counts the characters after which values begin: a comma, or the start of a list or an object, outside of texts.
    """
    quotes = body.count(b'"') - body.count(b'\\"')  # four of a value with a name, at most
    return quotes > 4 * most or (_beginnings(body) > most and _beginnings(TEXT.sub(b"", body)) > most)


def _beginnings(body: bytes) -> int:
    return sum(map(body.count, BEGINNINGS))


def _written(values: Json) -> bytes:
    """The JSON text. Raises RefusedError for what is nested too deeply, which less is enough for than in reading."""
    try:
        return orjson.dumps(values)
    except orjson.JSONEncodeError as error:
        raise RefusedError("The body is nested too deeply.") from error


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _check_join(values: Json, functions: dict[int, Any]) -> None:
    number = values.get("fn_index")
    function = functions.get(number) if type(number) is int else None
    if function is None or function.fn is None:
        raise RefusedError("fn_index names no function of this page.")
    if values.get("session_hash") is None:
        raise RefusedError("session_hash is missing.")
    _check_count(values, function, named=False)


def _check_count(values: Json, function: Any, named: bool) -> None:
    """As many values as the function takes; where it is called by its name, those that the caller gives are enough."""
    data = values.get("data")
    if not isinstance(data, list):
        raise RefusedError("data must be a list.")
    api_inputs = sum(not component.skip_api for component in function.inputs)
    if len(data) < len(function.inputs) and not (named and len(data) == api_inputs) and not function.cancels:
        raise RefusedError(f"data holds {len(data):,} values; this function takes {len(function.inputs):,}.")


def _check_server(values: Json, blocks: gr.Blocks) -> None:
    """The component's function named in a request, if it exists: for any request there, Gradio begins a session."""
    if {"component_id", "session_hash", "fn_name", "data"} <= values.keys() and isinstance(values["fn_name"], str):
        component = blocks.blocks.get(values["component_id"])
        if getattr(getattr_static(component, values["fn_name"], None), "_is_server_fn", False):
            return
    raise RefusedError("The request names no component's function.")


def _endpoint(path: str, functions: dict[int, Any]) -> Any:
    name = path.rstrip("/").rpartition("/")[2]
    for function in functions.values():
        if function.api_name == name and function.api_visibility != "private" and function.fn is not None:
            return function
    raise RefusedError("There is no endpoint of that name.")


def _check_address(scope: Scope) -> None:
    """The ids in an address. Raises RefusedError."""
    path = scope["path"][len(PREFIX) :]
    if path.startswith(IN_PATH) and not all(map(_is_id, path.rstrip("/").replace(".", "/").split("/"))):
        raise RefusedError("The address holds something that is no id.")
    if scope["query_string"]:
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not all(_is_id(value) for name in IDS_IN_ADDRESS for value in query.get(name, ())):
            raise RefusedError("The address holds something that is no id.")


def _is_id(value: object) -> bool:
    return isinstance(value, str) and ID.fullmatch(value) is not None


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None where they hung up before its end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    is_sent = False

    async def again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_length(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    other = [pair for pair in headers if pair[0] not in (b"content-length", b"transfer-encoding")]
    return [*other, (b"content-length", str(length).encode())]
