"""The finder's index: everything that can be opened is in it once, its words are those of the page, and it is small."""

import gzip
import json
import re
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from app import build_pages
from demos.bert.model.models import ModelStore
from demos.lessons import discover
from demos.page import embed
from demos.page.command_line import read_settings
from demos.page.delivery.fixed_answers import ASK_EACH_TIME, FixedAnswers
from demos.page.finder.finder import ADDRESS, beside, entries
from demos.page.glossary.glossary import glossary
from demos.page.head import build_switches
from demos.page.questions.question_file import questions
from demos.page.services import Services
from demos.page.tours.tour_file import bundled_tours, read_tour

LESSONS = discover()
PLACES = {(lesson.slug, part.slug if part else "") for lesson in LESSONS for part in lesson.parts or (None,)}
TOURS = [read_tour(path) for path in bundled_tours()]


@pytest.fixture(scope="module")
def index(store: ModelStore) -> list[dict[str, Any]]:
    return entries(build_pages(Services(store, store.spec("minilm").key)), LESSONS, TOURS)


def of_kind(index: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [entry for entry in index if entry["kind"] in kinds]


def test_everything_that_can_be_opened_is_there_once(index: list[dict[str, Any]]) -> None:
    parts = of_kind(index, "Part", "Lesson")
    assert {(entry["lesson"], entry["part"]) for entry in parts} == PLACES
    assert len(parts) == len(PLACES)
    assert {(entry["lesson"], entry["part"]) for entry in of_kind(index, "Question")} == set(questions())
    assert {entry["term"] for entry in of_kind(index, "Term")} == {term.slug for term in glossary()}
    assert {(entry["tour"], entry["stop"]) for entry in of_kind(index, "Tour")} == {
        (tour.name, number) for tour in TOURS for number in range(1, len(tour.stops) + 1)
    }
    assert {(entry["lesson"], entry["part"]) for entry in of_kind(index, "Tour")} <= PLACES


def test_words_are_those_of_texts_formulas_controls_and_of_the_list_beside(index: list[dict[str, Any]]) -> None:
    heads = next(entry for entry in index if (entry["kind"], entry.get("part")) == ("Part", "heads"))
    words = heads["words"].split()
    assert len(words) == len(set(words)) > 100
    assert {"contribution", "heatmap", "pattern", "clark"} <= set(words)  # of controls, texts and sources
    assert not {"macro", "endmacro", "div", "span"} & set(words)  # of templates and of HTML
    published = next(entry for entry in index if (entry["kind"], entry.get("part")) == ("Part", "published"))
    assert published["also"] == "leaderboard, inference tasks"


def test_help_names_options_of_the_app_and_presses_what_there_is(
    index: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    entries = of_kind(index, "Help")
    with pytest.raises(SystemExit):
        read_settings(["--help"])
    options = set(re.findall(r"--[\w-]+", capsys.readouterr().out))
    named = {option for entry in entries for option in re.findall(r"--[\w-]+", entry["about"])}
    assert {"--frame", "--mcp", "--model-folder"} <= named <= options
    assert {entry["press"] for entry in entries} == {"", "#room-button", "#embed-button"}
    assert 'id="room-button"' in build_switches().value
    assert 'id: "embed-button"' in embed.SCRIPT


def test_the_list_beside_names_parts_that_are_there() -> None:
    assert set(beside()) <= {f"{lesson}/{part}".rstrip("/") for lesson, part in PLACES}


def test_texts_are_without_markup_and_the_index_is_small(index: list[dict[str, Any]]) -> None:
    for entry in index:
        assert entry["title"].strip()
        for text in (entry["title"], entry["about"], entry["where"]):
            assert "</" not in text, text
            assert "{" not in text, text
    assert len(gzip.compress(json.dumps(index).encode())) < 100_000


def test_it_is_sent_at_its_address_alone(index: list[dict[str, Any]]) -> None:
    app = Starlette()
    app.add_middleware(FixedAnswers, answers={ADDRESS: JSONResponse(index, headers=ASK_EACH_TIME)})
    client = TestClient(app)
    assert client.get(ADDRESS).json() == index
    assert client.get("/finder").status_code == 404
    assert client.post(ADDRESS).status_code == 404
