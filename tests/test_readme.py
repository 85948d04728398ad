"""The README is held to the code: a Space's front matter, its length, the lessons that it lists."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from gradio import __version__ as gradio_version
from PIL import Image

from demos.bert.model.catalogue import CATALOGUE, PREFERRED
from demos.lessons import discover
from demos.page.patches.patches import GRADIO

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_, FRONT_MATTER, BODY = README.split("---\n", 2)
FRONT = yaml.safe_load(FRONT_MATTER)
MOST_WORDS = 700
MOST_BYTES = 1_500_000  # of the animation


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


def test_a_space_has_little_above_the_app_and_a_picture_when_it_is_shared() -> None:
    assert FRONT["header"] == "mini"
    assert (ROOT / FRONT["thumbnail"]).is_file()


def test_the_preloaded_files_are_the_ones_the_app_loads() -> None:
    spec = CATALOGUE[PREFERRED]
    repository, files, revision = FRONT["preload_from_hub"][0].split()
    assert (repository, revision) == (spec.hub_id, spec.revision)
    assert set(files.split(",")) == set(CATALOGUE[PREFERRED].files)
    assert spec.hub_id in FRONT["models"]


def test_a_newcomer_reads_it_in_a_few_minutes() -> None:
    assert len(BODY.split()) <= MOST_WORDS


def test_every_lesson_has_one_line() -> None:
    lines = re.findall(r"^- \*\*(.+?)\*\*: (.+?\?) \S.*\.$", BODY, flags=re.M)
    assert lines == [(lesson.tab, lesson.question) for lesson in discover()]


def test_its_animation_is_short_and_small() -> None:
    """As tests/pictures.py makes it."""
    (path,) = re.findall(r"\]\((assets/\S+\.webp)\)", BODY)
    with Image.open(ROOT / path) as animation:
        lengths = []
        for place in range(animation.n_frames):
            animation.seek(place)
            animation.load()
            lengths.append(animation.info["duration"])
    assert len(lengths) > 10
    assert 6_000 <= sum(lengths) <= 10_000
    assert (ROOT / path).stat().st_size <= MOST_BYTES
