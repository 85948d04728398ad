"""A reader's own tour file, as the server reads it: hostile text is escaped, faults are told, everything is bounded."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from demos.page.protection import coming
from demos.page.tours.checks import Place
from demos.page.tours.served import Tours
from demos.page.tours.tour_file import bundled_tours, read_tour
from tests.run_coroutine import run

PLACES = {"tokens": Place((), {"under": {"value": "id", "offers": ["id"]}}, {"tokens-picture": ""})}
FRONT = "---\ntitle: Mine\n---\n"
STOP = "## A stop\n\nview: /tokens?text=Hello\nlight: tokens-picture\n\n"


@pytest.fixture
def client() -> TestClient:
    tours = [read_tour(file) for file in bundled_tours()]
    return TestClient(Tours(Starlette(), tours=tours, places=PLACES))


def test_a_file_is_read(client: TestClient) -> None:
    text = (
        FRONT + STOP + 'Look. <img src=x onerror="alert(1)"> [here](javascript:alert(1))\n\nnotes: <script>x</script>'
    )
    tour = client.post("/tours/read?file=mine.md", content=text).json()["tour"]
    (stop,) = tour["stops"]
    assert (tour["title"], stop["title"], stop["light"]) == ("Mine", "A stop", "tokens-picture")
    assert "<img" not in stop["text"]
    assert "href" not in stop["text"]
    assert "<script" not in stop["notes"]
    assert stop["source"][1] == "<script>x</script>"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            FRONT + STOP.replace("/tokens", "/nowhere"),
            "a.md, line 4: there is no lesson 'nowhere'; choose one of tokens.",
        ),
        (FRONT + STOP + "x" * 100_000, "a.md: a tour has at most 100 kB."),
        (FRONT.replace("Mine", "[" * 5_000) + STOP, "a.md, line 2: this is not “name: value”."),
        ("\x89PNG".encode("latin-1") + b"\xff", "a.md: the file is not UTF-8 text."),
        ("", "a.md, line 1: a tour begins with a line ---, a line “title: …” and a line ---."),
    ],
)
def test_a_fault_is_told(client: TestClient, text: str | bytes, fault: str) -> None:
    answer = client.post("/tours/read?file=a.md", content=text)
    assert answer.json() == {"fault": fault}


def test_a_text_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coming, "SMALL_BODY_SECONDS", 0.05)

    async def receive() -> dict[str, object]:
        if sent:
            await asyncio.sleep(60)
        sent.append(1)
        return {"type": "http.request", "body": b"---", "more_body": True}

    async def send(message: MutableMapping[str, Any]) -> None:
        told.append(message)

    sent: list[int] = []
    told: list[MutableMapping[str, Any]] = []
    scope = {"type": "http", "method": "POST", "path": "/tours/read", "query_string": b"", "headers": []}
    run(Tours(Starlette(), tours=[], places=PLACES)(scope, receive, send))
    assert told[1]["body"] == b'{"fault":"The request did not come to its end."}'


def test_the_name_of_a_file_is_bounded(client: TestClient) -> None:
    assert len(client.post("/tours/read?file=" + "n" * 5_000, content="").json()["fault"]) < 250


def test_every_tour_that_comes_along_is_answered(client: TestClient) -> None:
    for file in bundled_tours():
        tour = client.get(f"/tours/{file.stem}.json").json()
        assert len(tour["stops"]) == len(read_tour(file).stops)
    assert client.get("/tours/nothing.json").status_code == 404
    assert client.get("/tours/read").status_code == 404


def test_the_speakers_window_and_the_editor_are_pages(client: TestClient) -> None:
    for address, holds in (("/tour-notes", 'id="notes"'), ("/tour-editor", 'id="own-tour"')):
        answer = client.get(address)
        assert answer.headers["content-type"].startswith("text/html")
        assert holds in answer.text
