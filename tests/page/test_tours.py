"""Tours: what a file says, faults told with their line, and that the bundled ones lead to what there is."""

import re
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qsl, urlsplit

import gradio as gr
import pytest

import app
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.lessons import discover
from demos.page.delivery.first_views import FirstViews
from demos.page.glossary.glossary import glossary
from demos.page.head import script
from demos.page.tours.checks import Place, check_tour
from demos.page.tours.places import places_of
from demos.page.tours.tour_file import BUNDLED, MOST_STOPS, Stop, Tour, as_json, bundled_tours, offered, read_tour
from tests.lectures import Difference, Slide, differences, slides

ROOT = Path(__file__).resolve().parents[2]
TOUR = """---
title: A tour
---

## First *stop*

view: /tokens?text=Hello+there&under=id
light: tokens-picture
question: yes

Some **bold** text and `code`.
It goes on.

A second paragraph with <script>alert(1)</script>, [a link](javascript:alert(1)) and ![a picture](https://example.org/x.png).

## Second stop
view: /attention?layer=3
light: attention-grid
notes: Say this:
  the grid has a row for each *layer*.

And <b>this</b>.
"""
LAUGHS = (
    "a: &a [x, x]\n"
    + "\n".join(  # two to the fortieth, where each name is written out
        f"{'a' * (n + 1)}: &{'a' * (n + 1)} [*{'a' * n}, *{'a' * n}]" for n in range(1, 40)
    )
    + f"\ntitle: *{'a' * 40}"
)
PLACES = {
    "tokens": Place((), {"under": {"value": "id", "offers": ["id", "position"]}}, {"tokens-picture": ""}, [""]),
    "attention": Place(
        ("heads", "compare"),
        {"part": {"value": "heads"}, "layer": {"value": 0, "minimum": 0, "maximum": 5, "step": 1}},
        {"attention-grid": "heads", "compare-left": "compare"},
    ),
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
    assert (first.light, first.asks, first.line) == ("tokens-picture", True, 5)
    assert "<strong>bold</strong> text and <code>code</code>" in first.text
    for hostile in ("<script", "<img", 'href="javascript'):
        assert hostile not in first.text
    assert (second.lesson, second.query, second.light, second.text) == ("attention", "layer=3", "attention-grid", "")
    assert second.asks is False
    assert "<em>layer</em>.</p>\n<p>And &lt;b&gt;" in second.notes
    assert second.source == ("", "Say this:\nthe grid has a row for each *layer*.\n\nAnd <b>this</b>.")
    check_tour(tour, PLACES)
    assert as_json(tour)["stops"][1]["title"] == "Second stop"
    assert offered([tour])["My-tour-"] == {
        "title": "A tour", "count": 2, "asks": [1], "lesson": "tokens", "query": "text=Hello+there&under=id"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("---\ntitle: A tour\n---\n", "", "mine.md, line 1: a tour begins with a line ---"),
        ("title: A tour", "titel: A tour", "mine.md, line 2: a tour needs a line “title: …”"),
        ("title: A tour", "title: [", "mine.md, line 2: this is not “name: value”."),
        ("title: A tour", "title: 2026-99-99", "mine.md, line 2: this is not “name: value”."),
        ("title: A tour", "title: " + "[" * 50_000, "mine.md, line 2: this is not “name: value”."),
        ("title: A tour", "title: !!python/object/apply:os.system [ls]", "mine.md, line 2: this is not “name: value”."),
        ("title: A tour", LAUGHS, "mine.md, line 2: a tour needs a line “title: …”"),
        (
            "view: /tokens",
            "look: /tokens",
            "mine.md, line 7: a stop has a view and may have a light and a question, b",
        ),
        ("question: yes", "question: how?", "mine.md, line 9: a stop's question is “yes” or “no”, not 'how?'."),
        (
            "view: /attention?layer=3\n",
            "view: /attention?layer=3\nquestion: yes\n",
            "mine.md, line 16: the lesson attention has no question in its part 'heads'.",
        ),
        (
            "view: /tokens?text=Hello+there&under=id\n",
            "",
            "mine.md, line 5: the stop “First *stop*” has no line “view:",
        ),
        ("view: /tokens", "view: https://example.org/tokens", "mine.md, line 5: a view is a link within the page"),
        ("view: /tokens", "view: //example.org", "mine.md, line 5: a view is a link within the page"),
        ("view: /tokens", "view: /tokenz", "mine.md, line 5: there is no lesson 'tokenz'; choose one of tokens, att"),
        ("under=id", "fold=moon", "mine.md, line 5: there is no fold 'moon' in this view."),
        ("under=id", "at=moon", "mine.md, line 5: there is no element 'moon' in this view."),
        ("under=id", "over=id", "mine.md, line 5: the lesson tokens has no choice 'over'."),
        ("layer=3", "part=tails", "mine.md, line 16: the lesson attention has no part 'tails'."),
        ("under=id", "under=ground", "mine.md, line 5: the choice 'under' of the lesson tokens can't be 'ground'."),
        ("layer=3", "layer=6", "mine.md, line 16: the choice 'layer' of the lesson attention can't be '6'."),
        (
            "layer=3",
            "part=compare",
            "mine.md, line 16: the element 'attention-grid' is in the part 'heads', not in 'compare'.",
        ),
        ("Say this", "on " * 1_000, "mine.md, line 16: a stop's notes have at most 2,000 characters."),
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
        check_tour(read_tour(path), PLACES)
    assert str(fault.value).startswith(told)


@pytest.mark.parametrize("wild", ["</script><script>alert(1)</script>", "<!--<script>"])
def test_no_title_ends_the_script_that_it_is_in(tmp_path: Path, wild: str) -> None:
    tour = read_tour(written(tmp_path, TOUR.replace("First *stop*", wild).replace("A tour", f'"{wild[:9]}"')))
    assert tour.stops[0].title == wild
    sent = script(tours=[tour])
    plain = script(tours=[])
    for mark in ("<script", "</script", "<!--"):
        assert sent.lower().count(mark) == plain.lower().count(mark)


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read_tour(tmp_path / "nowhere.md")
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UserError, match="not UTF-8"):
        read_tour(tmp_path / "picture.md")


@pytest.fixture(scope="module")
def places(built: tuple[gr.Blocks, FirstViews]) -> dict[str, Place]:
    """What the lessons have."""
    demo, first_views = built
    return places_of(demo, first_views.pages)


def test_an_element_of_a_page_has_an_id_of_its_own(built: tuple[gr.Blocks, FirstViews]) -> None:
    """The panel of a part, too, which a link or a style would confuse with another element."""
    demo, _ = built
    ids = Counter((block.page, block.elem_id) for block in demo.blocks.values() if block.elem_id)
    assert len(ids) > 500
    assert [one for one, count in ids.items() if count > 1] == []


def test_the_bundled_tours_lead_to_what_there_is(places: dict[str, Place]) -> None:
    files = bundled_tours()
    assert len(files) >= 5  # for a first visitor, and one for each of four lectures
    for file in files:
        tour = read_tour(file)
        check_tour(tour, places)
        assert all(stop.text for stop in tour.stops)


def test_the_tour_that_their_readme_shows_leads_to_what_there_is(tmp_path: Path, places: dict[str, Place]) -> None:
    (example, question) = re.findall(r"```markdown\n(.*?)```", (BUNDLED / "README.md").read_text("utf-8"), flags=re.S)
    tour = read_tour(written(tmp_path, example))
    check_tour(tour, places)
    (stop,) = tour.stops
    assert (tour.title, stop.light, stop.asks) == ("My lecture", "tokens-picture", True)
    assert "What only the speaker reads" in stop.notes
    assert question.startswith("---\nkind: choice\n")  # tests/page/test_question_file.py reads it


def test_the_links_of_the_readme_lead_to_what_there_is(places: dict[str, Place]) -> None:
    links = re.findall(r"\]\(http://127\.0\.0\.1:7860/([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) == 5
    parts = [urlsplit(link) for link in links]
    stops = [Stop(part.path, part.path, part.query, "", False, "", "", ("", ""), 1) for part in parts]
    check_tour(Tour("README.md", "readme", "README", tuple(stops)), places)


def test_a_link_that_names_a_head_names_its_model() -> None:
    """The same head of another model is another head, and the model that comes first differs by machine."""
    found, without = 0, []
    files = [ROOT / "README.md", ROOT / "tests" / "lectures.md"]
    for folder, endings in (("assets", (".md", ".yaml")), ("demos", (".md", ".yaml", ".html", ".py", ".js", ".json"))):
        files += [path for path in sorted((ROOT / folder).rglob("*.*")) if path.suffix in endings]
    for path in files:
        for link in re.findall(r"/[a-z]*\?[\w%+.,!?'&;=\[\]-]*", path.read_text(encoding="utf-8")):
            named = dict(parse_qsl(urlsplit(link.replace("&amp;", "&")).query))
            if any(re.match(r"\d", named.get(name, "")) for name in ("head", "lines", "heads_off")):
                found += 1
                if "model" not in named:
                    without.append(f"{path.relative_to(ROOT)}: {link}")
    assert found >= 5
    assert without == []


def test_the_table_of_slides_is_whole_and_its_links_lead_to_what_there_is(places: dict[str, Place]) -> None:
    found = slides()
    counts = {"A": 21, "B": 81, "C": 76, "D": 20}
    assert [slide.key for slide in found] == [f"{of}{n + 1}" for of, count in counts.items() for n in range(count)]
    assert all(slide.lacks or slide.selector for slide in found)
    stops = [
        Stop(slide.key, slide.lesson, slide.query, _element(slide.selector), False, "", "", ("", ""), number)
        for number, slide in enumerate(found)
        if slide.view
    ]
    check_tour(Tour("lectures.md", "lectures", "Lectures", tuple(stops)), places)


LECTURES = {
    "A": "lecture-fine-tuning",
    "B": "lecture-transformers-and-bert",
    "C": "lecture-attention-to-classification",
    "D": "lab-text-classification",
}


def test_the_part_of_each_row_has_a_stop_in_the_tour_of_its_lecture() -> None:
    first = {lesson.slug: lesson.parts[0].slug if lesson.parts else "" for lesson in discover()}

    def place(view: Stop | Slide) -> tuple[str, str]:
        return view.lesson, dict(parse_qsl(view.query)).get("part", first[view.lesson])

    stops = {key: {place(stop) for stop in read_tour(BUNDLED / f"{name}.md").stops} for key, name in LECTURES.items()}
    rows = [row for row in slides() if row.view]
    assert [(row.key, row.what, *place(row)) for row in rows if place(row) not in stops[row.key[0]]] == []


def test_the_views_of_the_glossary_exist(places: dict[str, Place]) -> None:
    """Some of them open a fold."""
    views = [urlsplit(term.view) for term in glossary() if term.view]
    stops = [
        Stop(view.geturl(), view.path.strip("/"), view.query, "", False, "", "", ("", ""), number)
        for number, view in enumerate(views)
    ]
    assert len(stops) >= 30
    assert {dict(parse_qsl(stop.query)).get("fold", "") for stop in stops} >= {"", "formula", "batch"}
    check_tour(Tour("glossary.yaml", "glossary", "Glossary", tuple(stops)), places)


@pytest.mark.parametrize("difference", differences(), ids=lambda difference: difference.key)
def test_the_page_says_where_a_lecture_says_otherwise(difference: Difference) -> None:
    assert difference.sentence in " ".join((ROOT / difference.file).read_text(encoding="utf-8").split())


def test_the_views_of_the_differences_exist(places: dict[str, Place]) -> None:
    stops = [
        Stop(difference.key, difference.lesson, difference.query, "", False, "", "", ("", ""), number)
        for number, difference in enumerate(differences())
    ]
    assert len(stops) >= 26
    check_tour(Tour("lectures.md", "lectures", "Lectures", tuple(stops)), places)


def test_what_is_said_of_the_vocabulary_is_so(store: ModelStore) -> None:
    tokenizer = store.tokenizer("minilm")
    assert tokenizer.tokenize("puppeteer") == ["puppet", "##eer"]
    assert len(tokenizer("thanks for all", add_special_tokens=False).input_ids) == 3
    assert 500 < sum(len(piece) == 1 for piece in tokenizer.vocab) < 5_000
    assert tokenizer.tokenize("🧿") == ["[UNK]"]


def _element(selector: str) -> str:
    """The id that a selector begins with, "" where it names a class."""
    return selector.split()[0][1:] if selector.startswith("#") else ""


def test_what_the_lectures_say_of_their_sentences_is_so(store: ModelStore) -> None:
    tokenizer = store.tokenizer("minilm")
    stops = {stop.title: stop for file in BUNDLED.glob("lecture-*.md") for stop in read_tour(file).stops}

    def tokens(title: str) -> list[str]:
        text = dict(parse_qsl(stops[title].query))["text"]
        return tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids)

    assert "<strong>18 tokens</strong>" in stops["Exercise 1: how many tokens?"].text
    assert len(tokens("Exercise 1: how many tokens?")) == 18
    at = int(dict(parse_qsl(stops["Relevance is a dot product"].query))["token"])
    assert tokens("Relevance is a dot product")[at] == "making"
    assert "difficult" in tokens("Relevance is a dot product")
    assert tokens("Which layer gives the best word vector?")[1] == "help"
    assert tokens("Query, key and value")[1:3] == ["thinking", "machines"]
    sheet = "101 1037 17453 14726 19379 12758 2006 2293 102"  # the numbers on the lecture's slide
    assert tokenizer(dict(parse_qsl(stops["A film review becomes numbers"].query))["text"]).input_ids == [
        int(number) for number in sheet.split()
    ]


def test_a_bad_tour_ends_the_start_with_one_sentence(
    tmp_path: Path,
    built: tuple[gr.Blocks, FirstViews],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, without what would change it: signals, patches, the log. The end: tests/page/test_ending.py."""

    def end(code: int = 0) -> NoReturn:
        raise SystemExit(code)

    demo, first_views = built
    instead = {
        "build_pages": lambda *_: demo, "FirstViews": lambda: first_views, "ending": lambda *_: end,
        "ASKED_TO_END": [], "apply_patches": len, "keep_log_small": lambda: None,
    }  # fmt: skip
    for name, stub in instead.items():
        monkeypatch.setattr(app, name, stub)
    monkeypatch.setattr(ModelStore, "begin", lambda *_: Future())
    path = written(tmp_path, TOUR.replace("/tokens", "/tokenz"))
    with pytest.raises(SystemExit) as ended:
        app.main(["--port", "0", "--runs", str(tmp_path / "runs"), "--tour", str(path)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "mine.md, line 5: there is no lesson 'tokenz'" in said
    assert said.count("\n") == 1
