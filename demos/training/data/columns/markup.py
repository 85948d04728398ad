"""HTML that a download has left in a text: found, counted, and taken out."""

import html
import re

# Tags; characters written as &amp; or &#39;, also where the & was lost; a dollar sign that was escaped.
MARKUP = re.compile(
    r"</?(?:a|b|br|div|em|font|i|img|li|ol|p|span|strong|table|td|tr|u|ul)\b[^<>]*>"
    r"|&(?:[a-zA-Z]{2,8}|#\d{2,5}|#x[0-9a-fA-F]{2,5});|(?<!&)#\d{2,4};|\\\$"
)
TAG = re.compile(r"</?[a-z]+\b[^<>]*>")
LOST = re.compile(r"(?<!&)#(\d{2,4});")


def has_markup(text: str) -> bool:
    """Whether a text holds HTML."""
    return bool(MARKUP.search(text))


def without_markup(text: str) -> str:
    """The text as a browser would show it, on one line; a text without HTML unchanged."""
    if not has_markup(text):
        return text
    shown = html.unescape(LOST.sub(r"&#\1;", TAG.sub(" ", text))).replace("\\$", "$")
    return " ".join(shown.split())
