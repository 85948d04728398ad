"""A lesson's address, and the links of earlier versions that lead to it."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from demos.page.delivery.lesson_addresses import LessonAddresses


@pytest.fixture
def client() -> TestClient:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{request.url.path}?{request.url.query}")

    routes = [Route("/", page), Route("/attention", page)]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(LessonAddresses, lessons=["tokens", "attention"])])
    )


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("/", "/?"),
        ("/?text=a+b", "/?text=a+b"),
        ("/?lesson=tokens&text=a", "/?lesson=tokens&text=a"),
        ("/?lesson=nowhere", "/?lesson=nowhere"),
        ("/?lesson=attention", "/attention?"),
        ("/?text=%C3%A9+%26+b&lesson=attention&layer=", "/attention?text=%C3%A9+%26+b&layer="),
        ("/attention?text=a", "/attention?text=a"),
        ("/tokens?text=a", "/?text=a"),
        ("/attention/?text=a", "/attention?text=a"),
        ("/attention///", "/attention?"),
        ("/Attention?layer=", "/attention?layer="),
        ("/attention/rollout", "/attention?part=rollout"),
        ("/Attention/Rollout/?text=a+b", "/attention?part=rollout&text=a+b"),
        ("/?lesson=//elsewhere.example", "/?lesson=//elsewhere.example"),
    ],
)
def test_a_lesson_is_found_by_its_name_and_by_earlier_links(client: TestClient, asked: str, page: str) -> None:
    answer = client.get(asked)
    assert answer.status_code == 200
    assert answer.text == page
    assert answer.url.host == "testserver"


@pytest.mark.parametrize(
    "asked", ["/attention/a/b", "/attention/%2F%2Felsewhere.example", "/attention/../x.js", "/nowhere/"]
)
def test_what_is_no_lessons_address_is_left_alone(client: TestClient, asked: str) -> None:
    assert client.get(asked, follow_redirects=False).status_code == 404
