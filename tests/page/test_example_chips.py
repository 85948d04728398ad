"""The bar's examples: those that suit the open lesson come first, every one is there, and all text is escaped."""

from html.parser import HTMLParser

import pytest

from demos.lessons import discover
from demos.page.example_chips.example_chips import TEXT, chips_html, groups_for


class Chips(HTMLParser):
    """Collects what each chip would put into the two boxes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.said: list[tuple[str | None, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if "data-text" in named:
            self.said.append((named["data-text"], named["data-pair"]))


LESSONS = [lesson.slug for lesson in discover()]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lessons_own_groups_come_first_and_none_is_lost(lesson: str) -> None:
    groups = groups_for(lesson)
    own = [lesson in group["lessons"] for group in groups]
    assert own == sorted(own, reverse=True)
    expected = {(one["text"], one["text_pair"]) for group in groups_for("") for one in group["examples"]}
    assert len(expected) >= 20
    said = Chips(chips_html(lesson)).said
    assert set(said) == expected
    assert len(said) == len(expected)


def test_groups_name_lessons_that_exist() -> None:
    assert {lesson for group in groups_for("") for lesson in group["lessons"]} <= set(LESSONS)


def test_a_hostile_example_is_only_text() -> None:
    bad = '"><script>alert(1)</script>${1}'
    html = TEXT.panel([{"title": bad, "examples": [{"label": bad, "text": bad, "text_pair": bad}]}])
    assert "<script" not in html
    assert Chips(html).said == [(bad, bad)]
