"""The project's texts are held to the project: the paths and commands that they name, the API's calls, the release."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*.md")
    if not any(folder.startswith((".", "venv")) for folder in path.relative_to(ROOT).parts)
)
MOST_WORDS = 12  # of a cell in the table of measured figures
MOST_LINES = 60  # of a release in the changelog


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def missing(document: str, text: str) -> list[str]:
    """The paths, links and modules that a document names and that do not exist."""
    folder = (ROOT / document).parent
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if not re.match(r"[a-z]+:|/", link)]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    paths = [path for span in spans for path in re.findall(r"(?<![\w./-])(?:demos|assets|tests)/[\w./-]*\w", span)]
    modules = [module for span in spans for module in re.findall(r"python -m ((?:demos|tests)[\w.]*)", span)]
    return [
        *(link for link in links if not (folder / link).exists()),
        *(path for path in paths if not (ROOT / path).exists()),
        *(module for module in modules if importlib.util.find_spec(module) is None),
    ]


def test_there_are_documents_to_read() -> None:
    assert {"README.md", "CONTRIBUTING.md", "demos/API.md", "assets/tours/README.md"} < set(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document: str) -> None:
    assert missing(document, text_of(document)) == []


@pytest.mark.parametrize(
    "text",
    ["[a](assets/none.png)", "see `demos/none.py`", "`tests/none.py::test`", "`python -m demos.none`", "![b](none.md)"],
)
def test_what_is_not_there_is_noticed(text: str) -> None:
    assert len(missing("README.md", text)) == 1


@pytest.mark.slow
def test_the_calls_of_the_api_work(app_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", text_of("demos/API.md"), flags=re.S)
    assert snippet.count("api_name=") == 7
    exec(compile(snippet.replace("http://127.0.0.1:7860", app_url), "API.md", "exec"), {})
    assert capsys.readouterr().out.count("\n") >= 3


def test_each_measured_figure_is_a_short_row_with_its_command() -> None:
    lines = text_of("tests/benchmarks/README.md").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    figures = [row for row in rows if row[0] != "figure" and set(row[0]) != {"-"}]
    assert len(figures) > 60
    assert [cell for row in figures for cell in row if len(cell.split()) > MOST_WORDS] == []
    benchmarks = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("[!_]*.py")}
    commands = {span for row in figures for span in re.findall(r"`([^`]+)`", row[-2])}
    named = {command.split()[0] for command in commands if not command.startswith("python -m ")}
    assert len(named) > 10
    assert named <= benchmarks


def test_the_newest_release_is_the_version_dated_and_short() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    unreleased, newest, *_ = re.split(r"^(?=## )", text_of("CHANGELOG.md"), flags=re.M)[1:]
    assert unreleased.startswith("## [Unreleased]\n")
    heading, *lines = newest.rstrip().splitlines()
    dated = re.fullmatch(r"## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})", heading)
    assert dated is not None
    assert dated[1] == version
    assert len(lines) + 1 <= MOST_LINES
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert (citation["version"], citation["date-released"]) == (dated[1], dated[2])
