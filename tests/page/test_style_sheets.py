"""No rule makes a browser style the whole page again for each label that it measures, or means something else once
Gradio has rewritten it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DEMOS = Path(__file__).parents[2] / "demos"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELECTORS = re.compile(r"([^{};]+)\{")
WHOLE_PAGE = re.compile(  # also within :not(); of .gradio-container and .lesson, what asks for more than children
    r"(?:^|[\s>+~])(?:(?:html|body|:root)[^\s>+~]*:has\(|(?:\.gradio-container|\.lesson|#lesson-[a-z]+):has\((?!>))"
)
LAST = re.compile(r"[^\s>+~]+$")
WITHOUT = re.compile(r":(?:not|has)\(.*\)")
LISTED = re.compile(r":has\((?:[^(),]|\([^()]*\))*,")  # a comma in `:has()` itself; in one of `:is()` it does no harm
NAMED = re.compile(r"[.#\[]|^[a-z]")  # by class, id, attribute or element


def selectors(css: str) -> Iterator[str]:
    """Every selector, each of a list on its own; what stands within brackets is left together, without spaces."""
    for found in SELECTORS.findall(COMMENT.sub("", css)):
        depth, one = 0, ""
        for letter in found.strip():
            depth += (letter in "([") - (letter in ")]")
            if letter == "," and not depth:
                yield one.strip()
                one = ""
            elif not (depth and letter.isspace()):
                one += letter
        yield one.strip()


def costly(css: str) -> list[str]:
    """The selectors after which a measurement anywhere costs Chromium 10 ms in place of 0.1.

    `:has()` on the page's root is asked again for every element that comes or goes, a measured label among them; where
    another `:has()` has any element as its subject, every element is styled anew then.
    """
    return [
        one
        for one in selectors(css)
        if ":has(" in one and (WHOLE_PAGE.search(one) or not NAMED.search(WITHOUT.sub("", LAST.findall(one)[0])))
    ]


@pytest.mark.parametrize(
    ("css", "count"),
    [
        ("body:has(#tour) .main { padding: 0 }", 1),
        ("html:not(:has(.dark)) .paper { display: none }", 1),
        ("a, body:has(.x, .y) p {}", 1),
        (".views:has(.model) > :first-child {}", 1),
        (".column > :has(.picture) ~ :not(.heading) { order: 2 }", 1),
        (".views:has(.model) > .picture, .views:has(.model) > p {}", 0),
        (".gradio-container:has(.x) #bar {}", 1),
        ("#lesson-encoder:has(#a-button) .choices {}", 1),
        (".gradio-container:has(> .main > .x) footer, .lesson > .form:not(:has(> .block)) {}", 0),
        ("#bar:has(.busy, .notice):not(:focus-within) {}", 0),
        ("/* body:has(a) */ .body:has(a) b {}", 0),
        ("@media (width > 1px) { .a:has(> b + c) .d:hover {} body:has(a) {} }", 1),
    ],
)
def test_a_costly_selector_is_found(css: str, count: int) -> None:
    assert len(costly(css)) == count


def test_no_selector_is_costly() -> None:
    found = {str(sheet.relative_to(DEMOS)): costly(sheet.read_text(encoding="utf-8")) for sheet in DEMOS.rglob("*.css")}
    assert len(found) > 50
    assert {name: selectors for name, selectors in found.items() if selectors} == {}


def test_no_has_lists_several() -> None:
    """Gradio serves each rule a second time with a prefix, and cuts its selectors at every comma: `:has(a, b)` becomes
    `:has(a, .prefix b)`, which finds no b, and that copy wins. `:has(:is(a, b))` finds both in the copy, too.
    """
    listed = {
        str(sheet.relative_to(DEMOS)): [
            one for one in selectors(sheet.read_text(encoding="utf-8")) if LISTED.search(one)
        ]
        for sheet in DEMOS.rglob("*.css")
    }
    assert {name: rules for name, rules in listed.items() if rules} == {}
    several = [".a:has(b,c)", ".a:has(>b:not(.d),c)"]
    assert [*filter(LISTED.search, [*several, ".a:has(>:is(b,c)):not(d,e)"])] == several
