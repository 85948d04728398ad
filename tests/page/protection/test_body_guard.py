"""The guard on the wire: too large is 413, told or streamed."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from demos.page.protection.body_guard import MAX_BODY, BodyGuard
from demos.training.data.upload_limit import MAX_UPLOAD


async def _length(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/call", _length, methods=["POST"]), Route("/gradio_api/upload", _length, methods=["POST"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(BodyGuard)]))


def test_small_bodies_pass(client: TestClient) -> None:
    answer = client.post("/call", content=b"x" * 1000)
    assert (answer.status_code, answer.text) == (200, "1000")


def test_a_large_body_is_refused_by_its_length(client: TestClient) -> None:
    answer = client.post("/call", content=b"x" * (MAX_BODY + 1))
    assert answer.status_code == 413
    assert "too large" in answer.text


def test_a_large_body_is_refused_while_it_streams(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 2**16 + 2):
            yield b"x" * 2**16

    assert client.post("/call", content=chunks()).status_code == 413


def test_an_upload_may_be_larger_but_is_bounded_too(client: TestClient) -> None:
    assert client.post("/gradio_api/upload", content=b"x" * (MAX_BODY + 1)).status_code == 200
    assert client.post("/gradio_api/upload", content=b"x" * (MAX_UPLOAD + 2**17)).status_code == 413


def test_a_length_that_is_no_number_is_refused(client: TestClient) -> None:
    assert client.post("/call", content=b"x", headers={"content-length": "-5"}).status_code == 413
