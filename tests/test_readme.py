"""The README is held to the code: a Space's front matter, the files it names, and the calls it shows."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from gradio import __version__ as gradio_version

from demos.bert.model.catalogue import CATALOGUE, PREFERRED
from demos.lessons import discover
from demos.page.patches.patches import GRADIO

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT = yaml.safe_load(README.split("---")[1])


def test_the_front_matter_starts_the_file_and_fits_a_space() -> None:
    assert README.startswith("---\n")
    assert (FRONT["sdk"], FRONT["app_file"], FRONT["python_version"]) == ("gradio", "app.py", "3.12.12")
    assert (ROOT / FRONT["app_file"]).is_file()
    assert len(FRONT["short_description"]) <= 60


def test_one_version_of_gradio_is_pinned_and_tested() -> None:
    """What the app changes inside of Gradio was read in this minor version (demos/page/patches/patches.py)."""
    minor = FRONT["sdk_version"].rpartition(".")[0]
    assert re.search(r"^gradio==(\S+)\.\*\s", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M)[1] == minor  # type: ignore[index]
    assert gradio_version.rpartition(".")[0] == minor
    assert GRADIO.removeprefix("Gradio ").rpartition(".")[0] == minor


def test_the_preloaded_files_are_the_ones_the_app_loads() -> None:
    spec = CATALOGUE[PREFERRED]
    repository, files, revision = FRONT["preload_from_hub"][0].split()
    assert (repository, revision) == (spec.hub_id, spec.revision)
    assert set(files.split(",")) == set(CATALOGUE[PREFERRED].files)
    assert spec.hub_id in FRONT["models"]


def test_every_lesson_stands_in_the_table() -> None:
    for lesson in discover():
        assert f"| {lesson.tab} | {lesson.question} |" in README


def test_every_local_file_it_names_is_there() -> None:
    named = re.findall(r"\]\(([^)h#][^)]*)\)", README) + re.findall(r"`((?:demos|assets|tests)/[\w./-]*)`", README)
    assert named
    for name in named:
        assert (ROOT / name).exists(), name


def test_its_calls_work(app_url: str, capsys) -> None:  # type: ignore[no-untyped-def]
    (snippet,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    assert snippet.count("api_name=") == 6
    exec(compile(snippet.replace("http://127.0.0.1:7860", app_url), "README.md", "exec"), {})
    assert capsys.readouterr().out.count("\n") >= 3
