"""The glossary: each term has one sentence and a source, and is marked where the page means it."""

import re
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.testclient import TestClient

from demos.lessons import discover
from demos.page.bar import lesson_heading
from demos.page.delivery.fixed_answers import ASK_EACH_TIME, FixedAnswers
from demos.page.glossary.glossary import (
    ADDRESS,
    MOST_MARKED,
    Term,
    glossary,
    glossary_html,
    letters,
    terms_in,
    with_terms,
)

LESSONS = discover()
TEXTS = [lesson.look for lesson in LESSONS] + [part.look for lesson in LESSONS for part in lesson.parts]


def named(name: str) -> Term:
    (term,) = (term for term in glossary() if term.name == name)
    return term


@pytest.mark.parametrize("term", glossary(), ids=lambda term: term.slug)
def test_a_term_has_one_sentence_and_a_source(term: Term) -> None:
    assert re.fullmatch(r"[A-Z0-9][^.!?]*(\.\d[^.!?]*)*\.", term.means), "one sentence"
    assert len(term.means) <= 160
    assert term.address.startswith("https://")
    assert term.forms


def test_names_and_forms_are_each_of_one_term() -> None:
    forms = [form.lower() for term in glossary() for form in term.forms]
    assert len(forms) == len(set(forms))
    assert len({term.slug for term in glossary()}) == len(glossary()) >= 80


def test_the_longest_form_is_found_as_a_whole_word_and_once() -> None:
    text = "Self-attention: each attention head has tokens; a tokenizer and headless heads have none. [CLS] is a token."
    found = {term.name: text[span] for term, span in terms_in(text).items()}
    assert found == {
        "self-attention": "Self-attention",
        "attention head": "attention head",
        "token": "tokens",
        "[CLS]": "[CLS]",
    }
    assert "token" not in {term.name for term in terms_in(text, [named("token")])}


def test_few_are_marked_in_one_text() -> None:
    assert len(terms_in(" ".join(term.forms[0] for term in glossary()))) == MOST_MARKED


def test_a_marked_text_reads_as_before_and_is_escaped() -> None:
    html = str(with_terms('<img src=x onerror=1> a "token" & more', "here"))
    assert "<img" not in html
    assert 'href="./glossary#token"' in html
    assert 'aria-describedby="term-here-token"' in html
    assert 'id="term-here-token"' in html
    shown = re.sub(r'<span role="tooltip".*?</span>', "", html)
    assert re.sub(r"<[^>]*>", "", shown) == "&lt;img src=x onerror=1&gt; a &#34;token&#34; &amp; more"


@pytest.mark.parametrize(
    ("text", "not_meant"),
    [
        ("computed from sines and cosines", "cosine similarity"),
        ("Search with a query", "query"),
        ("Press a key", "key"),
        ("Both norms divide by a standard deviation", "norm"),
        ("Layer norm, or batch norm", "norm"),
    ],
)
def test_a_word_with_another_meaning_is_not_marked(text: str, not_meant: str) -> None:
    assert not_meant not in {term.name for term in terms_in(text)}


def test_a_method_of_normalising_is_not_explained_as_a_length() -> None:
    """In a part about normalisation, a norm is none of a vector."""
    (part,) = (part for lesson in LESSONS for part in lesson.parts if part.tab == "Batch norm or layer norm")
    names = {term.name for term in terms_in(part.look)}
    assert {"LayerNorm", "batch normalization"} <= names
    assert "norm" not in names


def test_most_of_the_pages_sentences_have_a_term() -> None:
    assert sum(bool(terms_in(text)) for text in TEXTS) > 0.7 * len(TEXTS)
    assert 'class="term"' in lesson_heading(LESSONS[0])


def test_letters_have_real_subscripts_and_are_escaped() -> None:
    by_letter = {re.sub(r"<[^>]*>", "", letter): (letter, means) for letter, means in letters()}
    assert by_letter["hi(l), H [n × d]"][0] == "h<sub>i</sub><sup>(l)</sup>, H [n × d]"
    assert by_letter["αij"][0] == "α<sub>ij</sub>"
    assert "α<sub>ij</sub><sup>(l,h)</sup>" in by_letter["αij"][1]
    assert "&#39;s paper" in by_letter["d"][1]
    assert not [text for pair in letters() for text in pair if "_" in text or "^" in text]


class Ids(HTMLParser):
    """What can be linked to in a document, and what its links lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if tag == "a" else []


def test_the_page_has_every_term_at_its_link() -> None:
    client = TestClient(FixedAnswers(Starlette(), {ADDRESS: HTMLResponse(glossary_html(), headers=ASK_EACH_TIME)}))
    answer = client.get(ADDRESS)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Ids()
    page.feed(answer.text)
    assert page.ids == [*(term.slug for term in glossary()), "letters"]
    assert all(letter in answer.text and means in answer.text for letter, means in letters())
    assert {term.address for term in glossary()} <= set(page.links)
    assert {f".{term.view}" for term in glossary() if term.view} <= set(page.links)
    assert client.head(ADDRESS).status_code == 200
    assert client.post(ADDRESS).status_code == client.get("/glossary/x").status_code == 404
