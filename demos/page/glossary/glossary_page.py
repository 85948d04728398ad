"""The page with all terms and letters, at /glossary."""

from __future__ import annotations

from markupsafe import Markup

from demos.figures.palette import css_variables
from demos.files import read_beside
from demos.page.delivery.fonts import font_tags
from demos.page.glossary.glossary import TEXT, glossary, letters

ADDRESS = "/glossary"


def glossary_html() -> Markup:
    """The whole document, in the page's fonts and colours."""
    style = Markup(css_variables() + read_beside(__file__, "page.css"))
    return TEXT.page(glossary(), letters(), Markup(font_tags()), style)
