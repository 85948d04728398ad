"""No rule makes a browser style the whole page again for each label that it measures, and each is sent once."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from demos.figures.palette import css_variables
from demos.files import read_text
from demos.page.head import style_sheet, style_sheets

DEMOS = Path(__file__).parents[2] / "demos"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELECTORS = re.compile(r"([^{};]+)\{")
WHOLE_PAGE = re.compile(  # also within :not(); of .gradio-container and .lesson, what asks for more than children
    r"(?:^|[\s>+~])(?:(?:html|body|:root)[^\s>+~]*:has\(|(?:\.gradio-container|\.lesson|#lesson-[a-z]+):has\((?!>))"
)
LAST = re.compile(r"[^\s>+~]+$")
WITHOUT = re.compile(r":(?:not|has)\(.*\)")
ON_ROOT = re.compile(r'(?:documentElement\.classList|\broot(?:\.classList)?)\.(?:add|toggle)\("([\w-]+)"')
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


def test_what_is_on_the_root_is_named_with_it() -> None:
    """The sheets are nested in the root's selector, below which no element has a class or attribute of the root."""
    scripts = "".join(path.read_text(encoding="utf-8") for path in DEMOS.rglob("*.js"))
    on_root = {*ON_ROOT.findall(scripts)} - {"pointed"}  # which elements have, too
    assert {"large-type", "touring", "covering", "presenting", "blanked", "filled", "reads-no-sentence"} <= on_root
    below = re.compile(rf"^(?:html|:root|\.(?:{'|'.join(on_root)})(?![\w-])|\[data-(?:part|larger)\b)")
    wrong = {sheet.name: [*filter(below.match, selectors(read_text(sheet)))] for sheet in style_sheets()}
    assert {name: rules for name, rules in wrong.items() if rules} == {}
    assert [*filter(below.match, [".large-type #bar", "html", ".large-typed", "&.touring p"])] == [
        ".large-type #bar",
        "html",
    ]


def test_the_whole_sheet_has_every_rule_once() -> None:
    whole, sheets = style_sheet(), [read_text(path) for path in style_sheets()]
    assert whole.startswith(css_variables())
    assert all(sheet.count("{") == sheet.count("}") for sheet in sheets)
    assert sum(whole.count(sheet.strip()[-200:]) for sheet in sheets) == len(sheets)
    nested = whole.index(":root:root:root{")
    assert (whole[:nested].count("@keyframes"), whole[nested:].count("@keyframes")) == (whole.count("@keyframes"), 0)
    assert whole.count("@keyframes") == sum(sheet.count("@keyframes") for sheet in sheets) > 0
