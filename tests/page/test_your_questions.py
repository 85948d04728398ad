"""The catalogue of the questions that come again, and the addresses of their panel and of a lecturer's link."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from demos.lessons import discover
from demos.page.head import script
from demos.page.questions import questions
from demos.page.room import link_and_qr_code
from demos.page.your_questions.catalogue import offered_questions
from demos.page.your_questions.served import LINK, MOST_BODY, MOST_IN_CODE, PANEL, YourQuestions

BASE = "https://example.org/bert/"


@pytest.fixture
def client() -> TestClient:
    return TestClient(YourQuestions(Starlette(), lessons=discover(), host="127.0.0.1"))


def test_every_question_is_in_the_catalogue_by_its_name_in_links() -> None:
    offered = offered_questions(discover())
    assert set(offered["names"]) == {question.name for question in questions().values()}
    assert offered["names"]["overview"] == {"lesson": "Overview", "tab": "Overview", "about": True}
    assert offered["names"]["encoder/size"] == {"lesson": "Inside the encoder", "tab": "Size", "about": False}
    assert list(offered["names"])[:2] == ["overview", "tokens"]  # in the order of the lessons
    assert len(offered["sentences"]) > 2


def test_the_catalogue_cannot_end_the_script_it_stands_in() -> None:
    sent = script(questions={"names": {}, "sentences": ["</script><script>alert(1)"]})
    assert "</script><script>alert" not in sent
    assert "window.questions" in script()


def test_the_panel_offers_every_question_to_a_lecturer(client: TestClient) -> None:
    answer = client.get(PANEL)
    assert answer.status_code == 200
    for question in questions().values():
        assert f'name="review" value="{question.name}"' in answer.text
    assert client.get("/other").status_code == 404


def test_a_link_keeps_the_order_and_has_a_code(client: TestClient) -> None:
    names = ["encoder/size", "overview", "encoder/size", "attention/heads"]
    answer = client.post(LINK, json={"base": BASE, "names": names}).json()
    assert answer["link"] == f"{BASE}?review=encoder/size,overview,attention/heads"
    assert answer["qr"].startswith("data:image/svg+xml")
    assert answer["alone"] is False
    every = [question.name for question in questions().values()]
    assert len(every) > MOST_IN_CODE
    answer = client.post(LINK, json={"base": BASE, "names": every}).json()
    assert answer["qr"] == ""
    assert answer["link"].endswith(every[-1])


def test_a_link_of_this_computer_alone_says_so(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_and_qr_code, "network_address", lambda: "")
    answer = client.post(LINK, json={"base": "http://127.0.0.1:7860/", "names": ["tokens"]}).json()
    assert answer["alone"] is True
    assert answer["link"] == "http://127.0.0.1:7860/?review=tokens"


@pytest.mark.parametrize(
    "said",
    [
        {"base": BASE, "names": ["nowhere/else"]},
        {"base": BASE, "names": []},
        {"base": BASE, "names": "tokens"},
        {"base": BASE, "names": [["tokens"]]},
        {"base": BASE},
        {"base": "javascript:alert(1)", "names": ["tokens"]},
        {"base": 7, "names": ["tokens"]},
        [],
        {"base": BASE, "names": ["tokens"] * MOST_BODY},
    ],
)
def test_what_is_no_set_of_questions_is_refused(client: TestClient, said: Any) -> None:
    answer = client.post(LINK, json=said)
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(".")


def test_what_is_no_json_is_refused(client: TestClient) -> None:
    assert client.post(LINK, content=b"{").status_code == 422
