"""The terms and letters of assets/glossary.yaml, and a sentence of the page with the terms in it marked."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

import yaml
from markupsafe import Markup

from demos.figures.palette import css_variables
from demos.files import Json, read_asset, read_beside
from demos.page.delivery.fonts import font_tags
from demos.templates import templates

TEXT = templates(__file__)
MOST_MARKED = 4  # terms in one text: more would be read as decoration
RAISED = re.compile(r"_(\{[^}]+\}|\w)|\^(\([^)]*\))")  # E_v, α_{ij}, h^(l)
ADDRESS = "/glossary"


@dataclass(frozen=True)
class Term:
    name: str
    forms: tuple[str, ...]  # how the page writes it where this is meant
    means: str  # one sentence
    source: str  # as in "Devlin et al. 2019, section 3"
    address: str  # of the source
    view: str  # a link, after the host, to a view that shows it, or ""

    @property
    def slug(self) -> str:
        """Its place on the glossary's page: "[CLS]" is "cls"."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@cache
def glossary() -> tuple[Term, ...]:
    """All terms, in the order of the alphabet. Raises KeyError where a term names a source that is not listed."""
    data = yaml.safe_load(read_asset("glossary.yaml"))
    terms = (_term(entry, data["sources"]) for entry in data["terms"])
    return tuple(sorted(terms, key=lambda term: term.name.strip("[").lower()))


@cache
def letters() -> tuple[tuple[Markup, Markup], ...]:
    """(A letter of the formulas, what it stands for), with real subscripts and superscripts."""
    entries = yaml.safe_load(read_asset("glossary.yaml"))["letters"]
    return tuple((_typeset(entry["letter"]), _typeset(entry["means"])) for entry in entries)


def _typeset(text: str) -> Markup:
    """The text as HTML: "h_i^(l)" with its i below and its (l) above the line."""
    pieces, at = [], 0
    for match in RAISED.finditer(text):
        below, above = match.groups()
        tag = Markup("<sub>{}</sub>").format(below.strip("{}")) if below else Markup("<sup>{}</sup>").format(above)
        pieces += [Markup.escape(text[at : match.start()]), tag]
        at = match.end()
    return Markup("").join([*pieces, Markup.escape(text[at:])])


def _term(entry: Json, sources: dict[str, str]) -> Term:
    forms = tuple(entry.get("only") or (entry["term"], *entry.get("also", ())))
    address = sources[entry["source"].partition(", ")[0]]
    return Term(entry["term"], forms, entry["means"], entry["source"], address, entry.get("view", ""))


@cache
def _forms() -> tuple[re.Pattern[str], dict[str, Term]]:
    """A pattern that finds any form as a whole word, the longest one, and the term by its form in small letters."""
    by_form = {form.lower(): term for term in glossary() for form in term.forms}
    longest_first = sorted(by_form, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE), by_form


def terms_in(text: str, left_out: Collection[Term] = ()) -> dict[Term, slice]:
    """The terms that a text uses, with the place of their first use, in the order of the text; MOST_MARKED at most."""
    pattern, by_form = _forms()
    first_uses: dict[Term, slice] = {}
    for match in pattern.finditer(text):
        term = by_form[match[0].lower()]
        if term not in left_out and len(first_uses) < MOST_MARKED:
            first_uses.setdefault(term, slice(*match.span()))
    return first_uses


def with_terms(text: str, place: str, left_out: Collection[Term] = ()) -> Markup:
    """The text as HTML, its terms as links to the glossary; `place` keeps their ids different from other texts'."""
    pieces, at = [], 0
    for term, span in terms_in(text, left_out).items():
        pieces += [Markup.escape(text[at : span.start]), TEXT.marked(term, text[span], f"term-{place}-{term.slug}")]
        at = span.stop
    return Markup("").join([*pieces, Markup.escape(text[at:])])


def glossary_html() -> Markup:
    """The whole document, in the page's fonts and colours."""
    style = Markup(css_variables() + read_beside(__file__, "page.css"))
    return TEXT.page(glossary(), letters(), Markup(font_tags()), style)
