"""One table for all lessons, for code that has its rows as plain values; templates use text_tables.html itself."""

from collections.abc import Iterable

from markupsafe import Markup

from demos.templates import templates

TEXT = templates(__file__, "text_tables.html")


def number_table(caption: str, heads: Iterable[object], rows: Iterable[tuple[object, Iterable[object]]]) -> Markup:
    """A table of plain values, escaped here: the columns' heads, and each row's head with its cells."""
    return TEXT.table_of_rows(caption, heads, rows)
