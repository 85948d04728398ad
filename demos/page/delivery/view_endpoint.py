"""A view for a program: its choices, figures and tables as JSON (demos/API.md)."""

import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

import orjson
from gradio.components.plot import PlotData
from markupsafe import Markup

from demos.errors import UserError
from demos.figures.figure.figure import Figure, figure_json, figure_of, is_figure
from demos.files import Json
from demos.page.lesson import Drawable, Lesson
from demos.page.services import Sentence, Services
from demos.page.view import On, controls_of

MOST_BYTES = 8_000_000  # of an answer
NEGATIVE = re.compile(r"^−(?=[\d.,]+ ?%?$)")  # the sign of a cell that is a number
NAMED = 40  # characters of what a caller has written, in a refusal


def view_endpoint(services: Services, lessons: Sequence[Lesson]) -> Callable[..., Json]:
    """The API's function `view`."""

    def view(
        lesson: str,
        part: str = "",
        text: str = "",
        text_pair: str = "",
        model: str = "",
        choices: Json | None = None,
    ) -> Json:
        """The figures (Plotly), the tables and the program of a part of a lesson, for a sentence.

        lesson and part are the names in the page's address, /lesson?part=...; a lesson without parts has "". choices
        are those of the link by name, but layers and heads are numbered from 0; the others are as the page opens.
        """
        drawable, only_bert = _view_of(lessons, lesson, part)
        own = services.for_bert() if only_bert else services
        sentence = Sentence(text, text_pair, own.key(model))
        said = _linked(drawable, choices or {})
        try:
            read = drawable.read(On(own, sentence), said)
        except UserError:
            raise
        except (TypeError, ValueError) as error:
            raise UserError("A choice has a value of the wrong type.") from error
        answer = {
            "lesson": lesson,
            "part": part,
            "model": sentence.model,
            "text": text,
            "text_pair": text_pair,
            "choices": {name: getattr(read, name) for name in _linked_names(drawable)},
            **_as_data(drawable.shown(own, sentence, **said)),
        }
        written = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
        if len(written) > MOST_BYTES:
            raise UserError(f"The answer has {len(written):,} bytes; the limit is {MOST_BYTES:,}. Use a shorter text.")
        return orjson.loads(written)

    return view


def _view_of(lessons: Sequence[Lesson], lesson: str, part: str) -> tuple[Drawable, bool]:
    """(the view, whether it is of BERT alone). Raises UserError where there is none of these names."""
    named = {known.slug: known for known in lessons}
    if lesson not in named:
        raise UserError(f"There is no lesson {lesson[:NAMED]!r}; there are: {', '.join(named)}.")
    parts = {known.slug: known for known in named[lesson].parts}
    if parts and part not in parts:
        raise UserError(f"There is no part {part[:NAMED]!r} in {lesson}; there are: {', '.join(parts)}.")
    place = parts[part] if parts else named[lesson]
    assert place.view is not None  # a lesson without parts is one
    return place.view, named[lesson].only_bert or place.only_bert


def _linked_names(view: Drawable) -> list[str]:
    return [name for name, control in controls_of(view.Choices).items() if control.in_link]


def _linked(view: Drawable, choices: Mapping[str, Any]) -> Json:
    """The choices, if a link has all of them. Raises UserError where it has not."""
    known = _linked_names(view)
    if not isinstance(choices, Mapping):
        raise UserError('choices must be an object, such as {"layer": 0}.')
    if unknown := [str(name)[:NAMED] for name in choices if name not in known]:
        raise UserError(f"Not a choice here: {', '.join(unknown[:5])}; there are: {', '.join(known) or 'none'}.")
    return dict(choices)


def _as_data(shown: Mapping[str, Any]) -> Json:
    """The figures, the tables and the program among what a view shows."""
    figures: dict[str, Figure] = {}
    tables: dict[str, list[Json]] = {}
    program = ""
    for name, drawn in shown.items():
        value: Any = drawn() if callable(drawn) else drawn
        value = value.get("value") if isinstance(value, dict) and "__type__" in value else value
        if is_figure(value):
            figures[name] = figure_of(figure_json(value))
        elif isinstance(value, PlotData):  # as it is remembered for the browser
            figures[name] = figure_of(value.plot)
        elif name == "program":
            program = str(value or "")
        elif isinstance(value, Markup) and (of_output := tables_of(value)):
            tables[name] = of_output
    return {"figures": figures, "tables": tables, "program": program}


def tables_of(html: str) -> list[Json]:
    """The tables in a piece of the page: their captions, and their rows of cells as text, head rows among them."""
    reader = _Tables()
    reader.feed(html)
    return reader.tables


class _Tables(HTMLParser):
    """Reads the tables of a page; text in another element of a cell belongs to that cell.

    A cell that is a negative number has the hyphen that programs read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Json] = []
        self._text: list[str] | None = None  # of the cell or caption that is open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif self.tables and tag == "tr":
            self.tables[-1]["rows"].append([])
        elif self.tables and tag in ("td", "th", "caption"):
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("td", "th", "caption") or self._text is None:
            return
        text, self._text = " ".join("".join(self._text).split()), None
        text = NEGATIVE.sub("-", text)
        if tag == "caption":
            self.tables[-1]["caption"] = text
        elif self.tables[-1]["rows"]:
            self.tables[-1]["rows"][-1].append(text)

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)
