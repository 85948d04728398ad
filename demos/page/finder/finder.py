"""The finder's index, at /finder.json: all that a reader can open, each with the words by which it is found."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl

import gradio as gr
import yaml

from demos.files import Json, read_beside, read_text
from demos.page.glossary.glossary import glossary
from demos.page.lesson import Lesson
from demos.page.questions.question_file import LESSONS, questions
from demos.page.questions.reveal import named
from demos.page.tours.places import part_of
from demos.page.tours.tour_file import Tour

ADDRESS = "/finder.json"
WORD = re.compile(r"[^\W_]+")
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)  # of templates and of HTML
SHOWN = 160  # characters of what a row says of its entry

Entry = Json


def entries(demo: gr.Blocks, lessons: Sequence[Lesson], tours: Sequence[Tour]) -> list[Entry]:
    """Parts in the order of the page, questions, tours with their stops, terms, and help.

    Each has `kind`, `title`, `where` and `about`, which a row shows, and `words`, which it does not: the words of the
    part's text, formulas and controls, and those of beside.yaml. `lesson` and `part`, `tour` and `stop`, `term`, or
    `press` say what it opens.
    """
    tabs = _tabs(lessons)
    return [*_parts(demo, lessons), *_questions(tabs), *_stops(lessons, tours, tabs), *_terms(), *_help()]


def _parts(demo: gr.Blocks, lessons: Sequence[Lesson]) -> Iterator[Entry]:
    labels, added = _labels(demo, lessons), beside()
    for lesson in lessons:
        for part in lesson.parts or (None,):
            slug = part.slug if part else ""
            texts = _texts(LESSONS / lesson.slug / slug, slug)
            yield {
                "kind": "Part" if part else "Lesson",
                "title": part.tab if part else lesson.tab,
                "where": lesson.tab if part else "",
                "about": part.look if part else lesson.look,
                "lesson": lesson.slug,
                "part": slug,
                "words": _words(lesson.question, *labels[lesson.slug, slug], *texts),
                "also": added.get(f"{lesson.slug}/{slug}".rstrip("/"), ""),
            }


def _questions(tabs: Mapping[tuple[str, str], str]) -> Iterator[Entry]:
    for (lesson, part), question in questions().items():
        offers = " ".join(named(answer.text) for answer in question.answers)
        yield {
            "kind": "Question",
            "title": _plain(named(question.text))[:SHOWN],
            "where": tabs[lesson, part],
            "about": "",
            "lesson": lesson,
            "part": part,
            "words": _words(_plain(offers), _plain(question.revealed)),
        }


def _stops(lessons: Sequence[Lesson], tours: Sequence[Tour], tabs: Mapping[tuple[str, str], str]) -> Iterator[Entry]:
    first = {lesson.slug: next(iter(lesson.tabs)) for lesson in lessons}
    for tour in tours:
        for number, stop in enumerate(tour.stops, 1):
            part = dict(parse_qsl(stop.query)).get("part") or first[stop.lesson]
            yield {
                "kind": "Tour",
                "title": stop.title,
                "where": f"{tour.title}, stop {number} · {tabs[stop.lesson, part]}",
                "about": _plain(stop.text)[:SHOWN],
                "lesson": stop.lesson,
                "part": part,
                "query": stop.query,
                "tour": tour.name,
                "stop": number,
                "words": _words(_plain(stop.text), _plain(stop.notes)),
            }


def _terms() -> Iterator[Entry]:
    for term in glossary():
        yield {
            "kind": "Term",
            "title": term.name,
            "where": "Glossary",
            "about": term.means,
            "term": term.slug,
            "words": _words(*term.forms),
        }


def _help() -> Iterator[Entry]:
    for entry in yaml.safe_load(read_beside(__file__, "help.yaml")):
        yield {"kind": "Help", "where": "", "words": "", "press": ""} | entry


def _tabs(lessons: Sequence[Lesson]) -> dict[tuple[str, str], str]:
    """By (lesson, part), the names of both."""
    return {
        (lesson.slug, part): f"{lesson.tab} > {tab}" if part else tab
        for lesson in lessons
        for part, tab in lesson.tabs.items()
    }


def _labels(demo: gr.Blocks, lessons: Sequence[Lesson]) -> Mapping[tuple[str, str], list[str]]:
    """By (lesson, part), the labels of its controls and what they offer."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for block in demo.blocks.values():
        label = getattr(block, "label", None)
        if isinstance(label, str):
            offered = [str(name) for name, _ in getattr(block, "choices", None) or ()]
            found[block.page or lessons[0].slug, part_of(block)] += [label, *offered]
    return found


def _texts(folder: Path, part: str) -> Iterator[str]:
    """The text of a part's files, or of those that belong to a lesson alone."""
    for path in sorted(folder.rglob("*") if part else folder.iterdir()):
        if path.suffix in {".html", ".md"}:
            yield _plain(read_text(path))


def _plain(text: str) -> str:
    return " ".join(MARKUP.sub(" ", text).split())


def _words(*texts: str) -> str:
    """Each word of the texts once, in small letters."""
    return " ".join(dict.fromkeys(word for text in texts for word in WORD.findall(text.lower())))


def beside() -> dict[str, str]:
    """By part ("lesson/part"), words by which people look for it and which the page does not say."""
    return dict(yaml.safe_load(read_beside(__file__, "beside.yaml")))
