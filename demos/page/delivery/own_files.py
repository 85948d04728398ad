"""The page's own script and style sheet as files, each named by its content and so kept by browsers for ever."""

import hashlib
from collections.abc import Mapping

from starlette.responses import Response

from demos.templates import templates

AT = "/page/"  # PageCache compresses what is here
KINDS = {"js": "text/javascript", "css": "text/css"}
TEXT = templates(__file__, "own_files.html")


def own_files(script: str, style_sheet: str) -> dict[str, Response]:
    """The answer with each file, by its address."""
    texts = {"js": script.encode(), "css": style_sheet.encode()}
    return {
        f"{AT}inside-bert-{hashlib.sha256(text).hexdigest()[:16]}.{ending}": Response(text, media_type=KINDS[ending])
        for ending, text in texts.items()
    }


def own_tags(files: Mapping[str, Response]) -> str:
    """HTML for the page's `<head>`; addresses have no root, as the app may be at a path of a host."""
    script, sheet = (address.removeprefix("/") for address in files)
    return str(TEXT.tags(script, sheet))
