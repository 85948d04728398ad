"""Answers with the page's font files, each named by its content and so kept by browsers for ever."""

from starlette.responses import Response

from demos.figures.fonts.fonts import font_files
from demos.templates import templates

TEXT = templates(__file__, "fonts.html")
AT = "/fonts/"
FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}


def font_tags() -> str:
    """HTML for the page's `<head>`: what is fetched first, and a rule for each file."""
    return str(TEXT.tags(font_files()))


def font_answers() -> dict[str, Response]:
    """Each font file, in memory, by its address."""
    return {f"/{file.address}": Response(file.data, media_type="font/woff2", headers=FOR_EVER) for file in font_files()}
