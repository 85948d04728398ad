"""The files that programs read are at their addresses, and no others."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.figures.training_program import program_of
from demos.files import ASSETS
from demos.page.delivery.fixed_answers import FixedAnswers
from demos.page.delivery.program_files import AT, program_answers, program_files
from demos.training.export.recipe_file import Recipe
from demos.training.sources import SOURCES


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(middleware=[Middleware(FixedAnswers, answers=program_answers(), folders=(AT,))]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("data/emotion.tsv", "text/plain; charset=utf-8"),
        ("data/restaurants.jsonl", "text/plain; charset=utf-8"),
        ("ready/entities/run.json", "text/plain; charset=utf-8"),
        ("translation/none.safetensors", "application/octet-stream"),
    ],
)
def test_a_file_is_at_its_address(client: TestClient, name: str, kind: str) -> None:
    answer = client.get(f"/files/assets/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.content == (ASSETS / name).read_bytes()
    size = client.head(f"/files/assets/{name}")
    assert (size.content, int(size.headers["content-length"])) == (b"", len(answer.content))


@pytest.mark.parametrize("data", SOURCES)
def test_the_file_that_a_recipes_program_reads_is_there(data: str) -> None:
    program = program_of(CATALOGUE[BUNDLED], Recipe(BUNDLED, SOURCES[data].kind, data))
    named = re.findall(r"""["'](assets/[\w./-]+\.\w+)["']""", program)
    assert named
    assert {f"/files/{name}" for name in named} <= program_files().keys()


@pytest.mark.parametrize(
    "path",
    [
        "/files/", "/files/app.py", "/files/assets/data/", "/files/assets/data/emotion.md", "/files/assets/../app.py",
        "/files/assets/%2e%2e/app.py", "/files//etc/passwd", "/files/assets/hosting/restart.py",
    ],
)  # fmt: skip
def test_nothing_else_is_in_that_folder(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.post("/files/assets/data/emotion.tsv").status_code == 404
