"""Tours: what a file says, faults told with their line, and that the bundled ones lead to what there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app import build_pages
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.delivery.first_views import FirstViews
from demos.page.head import head
from demos.page.services import Services
from demos.page.tours.places import places_of
from demos.page.tours.tour_file import BUNDLED, MOST_STOPS, Place, as_json, check_tour, read_tour

ROOT = Path(__file__).resolve().parents[2]
TOUR = """---
title: A tour
---

## First *stop*

view: /tokens?text=Hello+there&under=id
light: tokens-picture

Some **bold** text and `code`.
It goes on.

A second paragraph with <script>alert(1)</script>, [a link](javascript:alert(1)) and ![a picture](https://example.org/x.png).

## Second stop
view: /attention?part=heads
"""
LAUGHS = (
    "a: &a [x, x]\n"
    + "\n".join(  # two to the fortieth, where each name is written out
        f"{'a' * (n + 1)}: &{'a' * (n + 1)} [*{'a' * n}, *{'a' * n}]" for n in range(1, 40)
    )
    + f"\ntitle: *{'a' * 40}"
)
PLACES = {
    "tokens": Place(frozenset(), frozenset({"under"}), frozenset({"tokens-picture"})),
    "attention": Place(frozenset({"heads"}), frozenset({"part", "layer"}), frozenset({"attention-grid"})),
}


def written(folder: Path, text: str, name: str = "mine.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_tour_is_read(tmp_path: Path) -> None:
    tour = read_tour(written(tmp_path, TOUR, "My tour!.md"))
    assert (tour.name, tour.title) == ("My-tour-", "A tour")
    first, second = tour.stops
    assert (first.title, first.lesson, first.query) == ("First *stop*", "tokens", "text=Hello+there&under=id")
    assert (first.light, first.line) == ("tokens-picture", 5)
    assert "<strong>bold</strong> text and <code>code</code>" in first.text
    for hostile in ("<script", "<img", 'href="javascript'):
        assert hostile not in first.text
    assert (second.lesson, second.query, second.light, second.text) == ("attention", "part=heads", "", "")
    check_tour(tour, "mine.md", PLACES)
    assert as_json([tour])["My-tour-"]["stops"][1]["title"] == "Second stop"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("---\ntitle: A tour\n---\n", "", "mine.md, line 1: a tour begins with a line ---"),
        ("title: A tour", "titel: A tour", "mine.md, line 2: a tour needs a line “title: …”"),
        ("title: A tour", "title: [", "mine.md, line 2: this is no “name: value”."),
        ("title: A tour", "title: 2026-99-99", "mine.md, line 2: this is no “name: value”."),
        ("title: A tour", "title: " + "[" * 50_000, "mine.md, line 2: this is no “name: value”."),
        ("title: A tour", "title: !!python/object/apply:os.system [ls]", "mine.md, line 2: this is no “name: value”."),
        ("title: A tour", LAUGHS, "mine.md, line 2: a tour needs a line “title: …”"),
        ("view: /tokens", "look: /tokens", "mine.md, line 7: a stop has a view and may have a light, but no 'look'."),
        (
            "view: /tokens?text=Hello+there&under=id\n",
            "",
            "mine.md, line 5: the stop “First *stop*” has no line “view:",
        ),
        ("view: /tokens", "view: https://example.org/tokens", "mine.md, line 5: a view is a link within the page"),
        ("view: /tokens", "view: //example.org", "mine.md, line 5: a view is a link within the page"),
        ("view: /tokens", "view: /tokenz", "mine.md, line 5: there is no lesson 'tokenz'; choose one of tokens, att"),
        ("under=id", "over=id", "mine.md, line 5: the lesson tokens has no choice 'over'."),
        ("part=heads", "part=tails", "mine.md, line 15: the lesson attention has no part 'tails'."),
        ("light: tokens-picture", "light: moon", "mine.md, line 5: the lesson tokens has no element 'moon'."),
        ("It goes on.", "on " * 1_000, "mine.md, line 5: a stop's text has at most 2,000 characters."),
        ("It goes on.", "on " * 40_000, "mine.md: a tour has at most 100 kB."),
        (
            "## Second stop",
            "## A stop\nview: /tokens\n" * MOST_STOPS,
            "mine.md: a tour has at most 60 stops, this one has 61.",
        ),
        ("## ", "# ", "mine.md: there is no stop; begin each with a line “## its title”."),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = written(tmp_path, TOUR.replace(old, new))
    with pytest.raises(UserError) as fault:
        check_tour(read_tour(path), path.name, PLACES)
    assert str(fault.value).startswith(told)


@pytest.mark.parametrize("wild", ["</script><script>alert(1)</script>", "<!--<script>"])
def test_no_title_ends_the_script_that_it_is_in(tmp_path: Path, wild: str) -> None:
    tour = read_tour(written(tmp_path, TOUR.replace("First *stop*", wild).replace("A tour", f'"{wild[:9]}"')))
    assert tour.stops[0].title == wild
    sent = head(tours=[tour])
    plain = head(tours=[])
    for mark in ("<script", "</script", "<!--"):
        assert sent.lower().count(mark) == plain.lower().count(mark)


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read_tour(tmp_path / "nowhere.md")
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UserError, match="not UTF-8"):
        read_tour(tmp_path / "picture.md")


def test_the_bundled_tours_lead_to_what_there_is(store: ModelStore) -> None:
    first_views = FirstViews()
    demo = build_pages(Services(store, "minilm"), first_views)
    files = sorted(BUNDLED.glob("*.md"))
    assert files
    for file in files:
        tour = read_tour(file)
        check_tour(tour, file.name, places_of(demo, first_views.pages))
        assert all(stop.text for stop in tour.stops)


def test_a_bad_tour_ends_the_start_with_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, TOUR.replace("/tokens", "/tokenz"))
    command = [sys.executable, "app.py", "--port", "0", "--tour", str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert "mine.md, line 5: there is no lesson 'tokenz'" in ended.stderr
    assert "Traceback" not in ended.stderr
