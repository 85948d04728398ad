"""One table for all lessons, for code that has its rows as HTML already; templates use text_tables.html itself."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from demos.templates import templates

TEXT = templates(__file__, "text_tables.html")


def column_heads(names: Iterable[object]) -> Markup:
    """A head cell for each name, escaped already."""
    return TEXT.column_heads([Markup(name) for name in names])


def scrolling_table(
    caption: str, head: str, body: str, *, name: str = "", foot: str = "", kind: str = "attention-table"
) -> Markup:
    """`head`, `body` and `foot` as rows' HTML under `caption`; all texts escaped already.

    `name` is the box's name for screen readers, by default the caption. `kind` "attention-table" keeps head and
    first column in sight, "lesson-table" has wider columns.
    """
    return TEXT.table_of_html(*map(Markup, (caption, head, body, name, foot, kind)))


def number_table(caption: str, heads: Iterable[object], rows: Iterable[tuple[object, Iterable[object]]]) -> Markup:
    """A table of plain values, escaped here: the columns' heads, and each row's head with its cells."""
    return TEXT.table_of_rows(caption, heads, rows)
