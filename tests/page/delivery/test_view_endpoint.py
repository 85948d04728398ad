"""A view for a program: every view answers in JSON what a plain draw of it shows, and a table is read as it stands."""

import json

import pytest
from markupsafe import Markup

from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons import discover
from demos.page.delivery.view_endpoint import MOST_BYTES, tables_of, view_endpoint
from demos.page.lesson import Lesson
from demos.page.services import Sentence, Services
from tests.shown_values import shown_values

LESSONS = discover()
TEXT = "The bank of the river."


@pytest.fixture(scope="module")
def services(store: ModelStore, bundled: LoadedModel) -> Services:
    return Services(store, bundled.spec.key)


@pytest.mark.parametrize("lesson", [one for one in LESSONS if one.slug in ("overview", "tokens", "encoder")])
def test_a_view_answers_what_its_draw_shows(services: Services, lesson: Lesson) -> None:
    view = view_endpoint(services, LESSONS)
    for place in lesson.parts or (lesson,):
        part = place.slug if lesson.parts else ""
        answer = view(lesson.slug, part, TEXT)
        assert place.view is not None
        shown = shown_values(place.view.shown(services.for_bert(), Sentence(TEXT, "", services.default_model)))
        assert answer["program"] == shown.get("program", "")
        assert set(answer["tables"]) == {name for name, value in shown.items() if "<table" in str(value)}
        assert json.loads(json.dumps(answer)) == answer
        assert len(json.dumps(answer)) < MOST_BYTES


def test_choices_are_read_within_their_bounds(services: Services) -> None:
    view = view_endpoint(services, LESSONS)
    far = view("encoder", "matrices", TEXT, choices={"layer": 99, "head": -1, "token": 3})
    assert {name: far["choices"][name] for name in ("layer", "head", "token")} == {"layer": 5, "head": 0, "token": 3}
    for choices in ([1], "layer"):
        with pytest.raises(UserError, match="must be an object"):
            view("encoder", "matrices", TEXT, choices=choices)
    with pytest.raises(UserError, match="20,001 characters"):
        view("encoder", "matrices", "x" * 20_001)


def test_a_table_is_read_as_text_with_numbers_that_programs_read() -> None:
    html = Markup(
        "<p>no cell</p><table><caption>Two\n rows</caption><tr><th>a</th><th><b>b</b> &lt;i&gt;</th></tr>"
        "<tr><td>1.5</td><td>−0.2 <span>%</span></td><td>a − b</td></tr></table><table></table>"
    )
    assert tables_of(html) == [
        {"caption": "Two rows", "rows": [["a", "b <i>"], ["1.5", "-0.2 %", "a − b"]]},
        {"caption": "", "rows": []},
    ]
    assert tables_of("<td>1</td>") == []
