"""The card of a stop of the lecturer's own tour, which the members' browsers do not have."""

from demos.errors import UserError
from demos.lecturer_files import MARKDOWN
from demos.page.room.limits import checked_text
from demos.page.tours.tour_file import LONGEST

LONGEST_HEADING = 300  # characters


def card_of(stop: object) -> dict[str, str] | None:
    """{title, html} of {title, text: Markdown in which no HTML counts}; None of None. Raises UserError."""
    if stop is None:
        return None
    title, text = (stop.get("title"), stop.get("text")) if isinstance(stop, dict) else (None, None)
    if not isinstance(text, str) or len(text) > LONGEST:
        raise UserError(f"The text of a stop has at most {LONGEST:,} characters.")
    return {"title": checked_text(title, "A heading", LONGEST_HEADING), "html": MARKDOWN.render(text)}
