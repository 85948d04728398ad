"""One table for all lessons: caption, column names, rows, in a box that scrolls and a keyboard reaches (HTML)."""

from __future__ import annotations

from collections.abc import Iterable

from demos.templates import markup


@markup
def column_heads(names: Iterable[object]) -> str:
    """A head cell for each name, escaped already."""
    return "".join(f'<th scope="col">{name}</th>' for name in names)


@markup
def scrolling_table(
    caption: str, head: str, body: str, *, name: str = "", foot: str = "", kind: str = "attention-table"
) -> str:
    """`head`, `body` and `foot` as rows' HTML under `caption`; all texts escaped already.

    `name` is what the box is called aloud, the caption where none is given. `kind` "attention-table" keeps head and
    first column in sight, "lesson-table" has wider columns.
    """
    titled = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{name or caption}"><table>{titled}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot and f'<tfoot>{foot}</tfoot>'}</table></div>"
    )
