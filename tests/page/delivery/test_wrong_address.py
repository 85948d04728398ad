"""What a browser and a program get for an address that does not exist."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from demos.page.delivery.wrong_address import WrongAddress

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def client() -> TestClient:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("the page")

    return TestClient(Starlette(routes=[Route("/tokens", page)], middleware=[Middleware(WrongAddress)]))


@pytest.mark.parametrize(("address", "home"), [("/nope", "./"), ("/a/b", "../"), ("/a/b/", "../../")])
def test_a_browser_is_shown_the_way_to_the_first_page(client: TestClient, address: str, home: str) -> None:
    answer = client.get(address, headers=BROWSER)
    assert answer.status_code == 404
    assert f'href="{home}"' in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_all_else_is_as_it_was(client: TestClient) -> None:
    assert client.get("/tokens", headers=BROWSER).text == "the page"
    assert client.get("/nope").text == "Not Found"
