"""Templates: what a reader typed stays text, a value that is not given is an error, HTML is escaped once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import TemplateNotFound, UndefinedError
from markupsafe import Markup

from demos import templates as module
from demos.templates import DEMOS, environment, plot_text, signed, templates

HOSTILE = "<script>alert('1')</script> & \"{{ 7 * 7 }}\" ${7*7}"
MACROS = """{% macro said(name, share) %}
  <p title="{{ name }}">{{ name }} {{ share|f(".1%") }}</p>
{% endmacro %}
{% macro around(inside) %}<div>{{ inside }}</div>{% endmacro %}
{% macro forgotten() %}{{ nobody }}{% endmacro %}"""


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "text.html").write_text(MACROS, encoding="utf-8")
    (tmp_path / "text.txt").write_text("{% macro said(name) %}{{ name }}{% endmacro %}", encoding="utf-8")
    monkeypatch.setattr(module, "DEMOS", tmp_path)
    environment.cache_clear()
    yield str(tmp_path / "part.py")
    environment.cache_clear()


def test_what_is_typed_stays_text(beside: str) -> None:
    text = templates(beside)
    said = text.said(HOSTILE, 0.125)
    assert "<script" not in said
    assert said.count("{{ 7 * 7 }}") == 2  # no template in a template
    assert said.endswith(" 12.5%</p>")
    assert text.around(said) == f"<div>{said}</div>"  # escaped once, not twice
    assert "<p" not in text.around(said.unescape())  # a plain string is text, whatever it looks like
    assert templates(beside, "text.txt").said(HOSTILE) == HOSTILE
    assert not isinstance(templates(beside, "text.txt").said(HOSTILE), Markup)


def test_a_value_that_is_not_given_is_an_error(beside: str) -> None:
    text = templates(beside)
    with pytest.raises(UndefinedError):
        text.said("name")
    with pytest.raises(UndefinedError):
        text.forgotten()
    with pytest.raises(AttributeError):
        text.nothing()
    with pytest.raises(TemplateNotFound):
        templates(beside, "none.html").said()


@pytest.mark.parametrize(
    ("value", "spec", "written"),
    [(-0.5, ".2f", "−0.50"), (0.5, ".2f", "0.50"), (0.5, "+.1f", "+0.5"), (-12, "+d", "−12"), (-0.5, "+.1%", "−50.0%"),
     (-0.004, ".2f", "0.00"), (0.004, "+.2f", "0.00"), (-0.0, "+.1%", "0.0%"), (-math.inf, ".2f", "−inf")],
)  # fmt: skip
def test_a_negative_number_has_a_true_minus_and_zero_no_sign(value: float, spec: str, written: str) -> None:
    assert signed(value, spec) == written
    assert environment().from_string("{{ value|n(spec) }}").render(value=value, spec=spec) == written


def test_every_template_writes_its_signs_with_that_filter() -> None:
    own = [
        file
        for file in DEMOS.rglob("*.html")
        if (text := file.read_text("utf-8")) and ('|f("+' in text or '"−")' in text)
    ]
    assert own == []


def test_labels_keep_their_quotes() -> None:
    assert plot_text('<b> "it\'s" &') == '&lt;b&gt; "it\'s" &amp;'


@pytest.mark.parametrize("path", sorted(path.relative_to(DEMOS).as_posix() for path in DEMOS.rglob("text*.html")))
def test_every_template_is_sound(path: str) -> None:
    """It parses, and nothing in it is let through unescaped."""
    assert environment().get_template(path).module
    source = (DEMOS / path).read_text(encoding="utf-8")
    assert "|safe" not in source.replace(" ", "")
    assert "autoescape" not in source
