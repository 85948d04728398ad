"""The fonts are ours, small, licensed, fetched at once and kept for ever."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from demos.figures.fonts.fonts import FOLDER, MONO, SANS, SERIF, font_files
from demos.page.delivery.fixed_answers import FixedAnswers
from demos.page.delivery.fonts import AT, font_answers, font_tags


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(middleware=[Middleware(FixedAnswers, answers=font_answers(), folders=(AT,))]))


def test_each_family_leads_a_stack_and_has_its_licence_and_source() -> None:
    families = {file.family for file in font_files()}
    assert families == {stack.split(",")[0].strip("'") for stack in (SANS, SERIF, MONO)}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for family in families:
        licence = FOLDER / f"{family.lower().replace(' ', '-')}-LICENSE.txt"
        assert "SIL OPEN FONT LICENSE" in licence.read_text(encoding="utf-8")
        assert f"| {family} " in readme
    assert {path.stem for path in FOLDER.glob("*.woff2")} == {file.name for file in font_files()}


def test_they_are_small() -> None:
    assert sum(len(file.data) for file in font_files()) <= 400_000


def test_what_the_page_names_is_there_for_ever(client: TestClient) -> None:
    tags = font_tags()
    named = set(re.findall(r'url\("(fonts/[^"]+)"\)', tags))
    assert named == {file.address for file in font_files()}
    preloaded = re.findall(r'<link rel="preload" as="font" type="font/woff2" crossorigin href="([^"]+)"', tags)
    assert {address.split("/")[1].split("-")[0] for address in preloaded} == {"inter", "literata", "jetbrains"}
    for file in font_files():
        answer = client.get(f"/{file.address}")
        assert (answer.status_code, answer.content) == (200, file.data)
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == "font/woff2"
        assert client.head(f"/{file.address}").content == b""


@pytest.mark.parametrize("path", ["/fonts/inter.woff2", "/fonts/../README.md", "/fonts/", "/fonts/%2e%2e/app.py"])
def test_nothing_else_is_in_that_folder(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
